/** The channels, messages and videos of the demo data. */
import type { Person } from './people.ts';
import { createRandom } from './random.ts';
import { SAMPLE, toFileKey } from './video-sample.ts';
import { HOUR, MINUTE, STORY_BEGINS, at, later } from './timeline.ts';

/** Describes a row of the table of channels. */
export interface Channel {
  readonly id: string;
  readonly name: string;
  readonly topic: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
}

/** Describes a row of the table of messages. */
export interface Message {
  readonly id: string;
  readonly channelId: string;
  readonly authorId: string;
  readonly body: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
}

/** Describes a row of the table of videos. */
export interface Video {
  readonly id: string;
  readonly ownerId: string;
  readonly title: string;
  readonly status: 'UPLOADED' | 'PUBLISHED';
  readonly durationSeconds: number | null;
  readonly fileKey: string;
  readonly mediaType: string;
  readonly size: number;
  readonly sha256: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
}

const CHANNELS = [
  {
    name: 'general',
    topic: 'For everybody, about everything that has no place of its own.',
    lines: [
      'Good morning, all. The kettle in the yard works again.',
      'Does anybody have a key to the model room?',
      'It hangs behind the fire extinguisher, where it should not.',
      'Found it, thank you!',
      'The library asks whether we would give the arch talk once more in May.',
      'I can do the 14th, if somebody brings the blocks.',
      'I will bring them. My daughter wants to stand on the arch again.',
      'Of course she does. It held her last year.',
      'A parcel of split rings has come without an address. Whose is it?',
      'Mine! I had given up hope.',
      'Photographs of Sunday’s walk are on the board. The viaduct in fog is the best one.',
      'I have never seen it so quiet.',
      'Reminder: the yard is shut on Monday.',
      'Who left the beautiful sketch of the swing bridge on the bench?',
      'That was Kavita. She says that you may keep it.',
      'Welcome to the three new people! Tell us which bridge you grew up with.',
      'A chain ferry, to be honest.',
      'That counts.',
      'It more than counts; it is a bridge that comes to you.',
      'I am stealing that sentence.',
    ],
  },
  {
    name: 'workshop-floor',
    topic: 'Tools, benches, who has the torque wrench, and what is in the vice.',
    lines: [
      'The big torque wrench is back from calibration.',
      'At last. Where was it off?',
      'Three per cent high at the top. They have adjusted it.',
      'Please turn it down to forty after use. Somebody keeps forgetting.',
      'That was me. I am sorry.',
      'The bandsaw has a new blade. Let it run free for a minute first.',
      'Has anybody glued Accoya to larch?',
      'Yes, with the two-part stuff. Clamp it longer than it says.',
      'How much longer?',
      'Until the next morning.',
      'The bench by the window is free from Thursday on.',
      'I would like it for the truss models, if nobody minds.',
      'All yours. Leave room for Bob’s clamps.',
      'I have only forty.',
      'Forty that we know of.',
      'Ear defenders, please, when you rivet. I could hear it on the towpath.',
      'Fair. It will not happen again before ten.',
      'The offcuts of oak are in the blue crate. Help yourselves.',
      'I made three mallets of them. One is for whoever guesses the age of the wood.',
      'A hundred and twelve years. I counted while you were at lunch.',
    ],
  },
  {
    name: 'site-visits',
    topic: 'Where we go next, what to wear, and when the tide is out.',
    lines: [
      'Next visit: the bascule bridge, on Saturday at nine. Sturdy shoes.',
      'May I bring my son? He is eleven and knows every part by name.',
      'Please do. The keeper likes questions.',
      'The tide is out at 10.40, so we see the pier first and the machine room after.',
      'I have two spare helmets.',
      'Can somebody take me along from the station?',
      'I can. Silver van, it smells of linseed oil.',
      'We are at the gate. The keeper says that the pinion sounds like rain today.',
      'That was wonderful. Thank you for the grease lesson!',
      'For the list: the covered bridge at the mill opens for visitors in June.',
      'They have replaced the chords on the north side. I would like to see how.',
      'So would I. Shall we ask for the drawings beforehand?',
      'Already done. They send them on paper, with a stamp.',
      'How proper.',
      'The footbridge at the weir is closed after the flood. No visit until the divers have been.',
      'Did the float alarm go off?',
      'It did, at four in the morning, exactly as it should.',
      'Then it has paid for itself.',
      'The divers found a metre and a half of scour at the second pier.',
      'Good that we stayed away. Next month, then, with dry feet.',
    ],
  },
] as const;

const VIDEOS = [
  ['Driving the last rivet', 214],
  ['A glulam beam from board to bridge', 742],
  ['How a bascule bridge wakes up', 388],
  ['Load test with forty lorries', 655],
  ['Sharpening a chisel in five minutes', 301],
  ['Inspecting a suspension cable', 918],
  ['Setting out an arch with string and chalk', 476],
  ['The flood gauge, explained', 263],
  ['Building a Warren truss from basswood', 1124],
  ['Night shift over the railway, time lapse', 187],
  ['Rope access rehearsal', 540],
  ['What a loose rivet sounds like', 94],
  ['Pegging an oak frame', 823],
  ['Trestle kit “Little Creek”: assembly', 1360],
] as const;

/** Returns three channels and their messages. No author posts two messages in a row. */
export function createTalk(people: readonly Person[]): { channels: Channel[]; messages: Message[] } {
  const random = createRandom('talk');
  const withMessages = CHANNELS.map(({ name, topic, lines }, index) => {
    const createdAt = later(STORY_BEGINS, (index + 1) * HOUR);
    const channel = { id: random.id('chn', createdAt), name, topic, createdAt, updatedAt: createdAt, version: 1 };
    let authorId = '';
    const messages = lines.map((body, line): Message => {
      const time = later(at(0.1 + (0.88 * line) / lines.length), random.integer(0, 9 * 60) * MINUTE);
      const others = people.filter((person) => person.createdAt < time && person.id !== authorId);
      authorId = random.pick(random.chance(0.3) ? others.filter((person) => people.indexOf(person) < 4) : others).id;
      return { id: random.id('msg', time), channelId: channel.id, authorId, body, createdAt: time, updatedAt: time, version: 1 };
    });
    return { channel, messages };
  });
  return { channels: withMessages.map(({ channel }) => channel), messages: withMessages.flatMap(({ messages }) => messages) };
}

/** Returns the videos. Two of three are published. */
export function createVideos(people: readonly Person[]): Video[] {
  const random = createRandom('videos');
  return VIDEOS.map(([title, durationSeconds], index) => {
    const createdAt = at((index + 1) / (VIDEOS.length + 1));
    const isPublished = index % 3 !== 2;
    const owners = people.filter((person) => person.createdAt < createdAt);
    const id = random.id('vid', createdAt);
    return {
      id,
      ownerId: (index < 4 ? people[2 + (index % 2)] : undefined)?.id ?? random.pick(owners).id,
      title,
      status: isPublished ? 'PUBLISHED' : 'UPLOADED',
      durationSeconds: isPublished ? durationSeconds : null,
      fileKey: toFileKey(id),
      ...SAMPLE,
      createdAt,
      updatedAt: isPublished ? later(createdAt, random.integer(2, 50) * HOUR) : createdAt,
      version: isPublished ? 3 : 1,
    };
  });
}
