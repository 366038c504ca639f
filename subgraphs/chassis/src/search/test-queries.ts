/** Generated documents and queries for tests of searches: few words, of which some are frequent, some inflect others, and some begin others. */
import fc from 'fast-check';
import { type SearchQuery, parseSearchQuery } from './query.ts';

// cspell:ignore brid bridgehead tun

/** The most frequent first. */
const WORDS = [
  ...['river', 'bridge', 'the', 'old', 'bridges', 'tunnel', 'of', 'bridgehead', 'road', 'tunnels', 'steel', 'cable', 'running', 'run'],
  ...['stone', 'arch', 'people', 'water', 'oak', 'pylon', 'truss', 'quay', 'ferry', 'canal', 'weir', 'lock', 'dam', 'ford', 'mole', 'pier'],
];

/** A document. */
export interface TestDocument {
  readonly title: string;
  readonly body: string;
  readonly createdAt: Date;
}

const HOUR_MS = 3_600_000;
const NEWEST = Date.UTC(2026, 0, 1);

/** Returns the same documents each time. Most are an hour apart, some are of the same second, and some of years before. */
export function createDocuments(count: number): TestDocument[] {
  const draw = createDraw();
  const hoursBefore = (i: number) => (i % 10 === 0 ? 100 : i % 101 === 0 ? i * 24 : i);
  return Array.from({ length: count }, (_, i) => ({
    title: draw(2),
    body: draw(8),
    createdAt: new Date(NEWEST - hoursBefore(i) * HOUR_MS),
  }));
}

/** Returns a function that draws words; of few numbers most are small. */
function createDraw() {
  let state = 1;
  const next = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  return (count: number) => Array.from({ length: count }, () => WORDS[Math.floor(WORDS.length * next() ** 3)]).join(' ');
}

const word = fc.constantFrom(...WORDS, 'brid', 'tun', 'be', 'missing');
const phrase = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => `"${words.join(' ')}"`);
const term = fc.oneof({ weight: 3, arbitrary: word }, phrase);
const excluded = fc.oneof(term, phrase).map((each) => `-${each}`);
const alternative = fc
  .tuple(term, fc.array(term, { maxLength: 2 }), fc.array(excluded, { maxLength: 1 }), fc.boolean())
  .map(([one, more, without, isLast]) => (isLast ? [one, ...without, ...more] : [one, ...more, ...without]).join(' '));

/** Queries of words, phrases, excluded ones, incomplete ones, and alternatives of them. */
export const searchQueries = fc.array(alternative, { minLength: 1, maxLength: 2 }).map((alternatives) => alternatives.join(' or '));

/** Parses a query that is not blank. */
export function parseTestQuery(written: string): SearchQuery {
  return parseSearchQuery(written, 'q') ?? [];
}
