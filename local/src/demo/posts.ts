/** The posts and comments of the demo data. */
import type { Person } from './people.ts';
import { ANECDOTES, ANSWERS, CLOSERS, OPENERS, REACTIONS, REMARKS, TITLES } from './phrases.ts';
import { createRandom, type Random } from './random.ts';
import type { Subject } from './subject.ts';
import { CRAFT } from './subjects-craft.ts';
import { STRUCTURES } from './subjects-structures.ts';
import { HOUR, MINUTE, STORY_ENDS, at, later } from './timeline.ts';

/** Describes a row of the table of posts. */
export interface Post {
  readonly id: string;
  readonly authorId: string;
  readonly title: string;
  readonly body: string;
  readonly status: 'DRAFT' | 'PUBLISHED' | 'ARCHIVED';
  readonly tags: readonly string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
}

/** Describes a row of the table of comments. */
export interface Comment {
  readonly id: string;
  readonly postId: string;
  readonly authorId: string;
  readonly body: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
}

const SUBJECTS = [...STRUCTURES, ...CRAFT];
/** Posts about each subject, by different authors and weeks apart. */
const POSTS_PER_SUBJECT = 5;
const THREAD_LENGTHS = [0, 1, 2, 3, 3, 4, 5, 8, 13];
const POSTS = SUBJECTS.length * POSTS_PER_SUBJECT;

/** Returns the posts and their comments, the oldest post first. Authors write only after their account was created. */
export function createPosts(people: readonly Person[]): { posts: Post[]; comments: Comment[] } {
  const random = createRandom('posts');
  const rounds = Array.from({ length: POSTS_PER_SUBJECT }, (_, round) => SUBJECTS.map((subject) => ({ subject, round })));
  const threads = rounds.flat().map(({ subject, round }, index) => {
    const createdAt = at(0.02 + (0.95 * index) / POSTS + random.integer(0, 9) / 10_000);
    const author = chooseAuthor(people, { random, index, createdAt });
    const post = writePost(random, { subject, round, index, author, createdAt });
    return { post, comments: post.status === 'DRAFT' ? [] : discuss(random, { subject, post, people }) };
  });
  return { posts: threads.map(({ post }) => post), comments: threads.flatMap(({ comments }) => comments) };
}

/** Returns the author of a post. Demo accounts write three of ten posts, so that each of them has some. */
function chooseAuthor(people: readonly Person[], { random, index, createdAt }: { random: Random; index: number; createdAt: Date }): Person {
  const demoAccounts = people.slice(0, 4);
  const present = people.filter((person) => person.createdAt < createdAt);
  return index % 10 < 2 ? random.pick(demoAccounts.slice(2)) : random.pick(index % 10 === 2 ? demoAccounts : present);
}

interface Assignment {
  readonly subject: Subject;
  readonly round: number;
  readonly index: number;
  readonly author: Person;
  readonly createdAt: Date;
}

function writePost(random: Random, { subject, round, index, author, createdAt }: Assignment): Post {
  const about = (text: string) => text.replaceAll('{s}', subject.name).replaceAll('{S}', capitalize(subject.name));
  const [first, second, third] = random.sample(subject.facts, 3);
  const paragraphs = [
    about(random.pick(OPENERS)),
    `${first ?? ''} ${random.pick(ANECDOTES)}`,
    `${second ?? ''} ${third ?? ''}`,
    random.pick(CLOSERS),
  ];
  // The five titles of a subject differ, so that no two posts have the same title.
  const title = about(TITLES[(index + round * 3) % TITLES.length] ?? '');
  const status = random.pick(['DRAFT', 'PUBLISHED', 'PUBLISHED', 'PUBLISHED', 'PUBLISHED', 'PUBLISHED', 'ARCHIVED'] as const);
  const edits = random.integer(0, 2);
  const version = { DRAFT: 1, PUBLISHED: 2, ARCHIVED: 3 }[status] + edits;
  return {
    id: random.id('pst', createdAt),
    authorId: author.id,
    title,
    body: paragraphs.join('\n\n'),
    status,
    tags: random.sample(subject.tags, random.integer(1, 3)).toSorted(),
    createdAt,
    updatedAt: version === 1 ? createdAt : later(createdAt, random.integer(1, 30 * 24) * HOUR),
    version,
  };
}

function discuss(random: Random, { subject, post, people }: { subject: Subject; post: Post; people: readonly Person[] }): Comment[] {
  // Sampled without repetition, so that no sentence occurs twice below a post.
  const length = random.pick(THREAD_LENGTHS);
  const reactions = random.sample(REACTIONS, length);
  const remarks = random.sample(REMARKS, length);
  const answers = random.sample(ANSWERS, length);
  let time = post.createdAt;
  return Array.from({ length }, (_, index) => {
    time = later(time, random.integer(1, 40) * HOUR);
    const answer = index > 0 && random.chance(0.2) ? answers.pop() : undefined;
    const present = people.filter((person) => person.createdAt < time && person.id !== post.authorId);
    const kinds = random.pick([[reactions, remarks], [reactions], [remarks]]);
    const said = kinds.map((phrases) => phrases.pop()).join(' ');
    const isEdited = random.chance(0.1);
    return {
      id: random.id('cmt', time),
      postId: post.id,
      authorId: answer === undefined ? random.pick(present).id : post.authorId,
      body: answer ?? said.replaceAll('{s}', subject.name),
      createdAt: time,
      updatedAt: isEdited ? later(time, random.integer(1, 20) * MINUTE) : time,
      version: isEdited ? 2 : 1,
    };
  }).filter(({ createdAt }) => createdAt < STORY_ENDS);
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
