/** The demo accounts to log in with (contract §1). Their passwords are public. */
import { createRandom } from './random.ts';
import { MINUTE, STORY_BEGINS, later } from './timeline.ts';

const ACCOUNTS = [
  {
    name: 'Marguerite Lindqvist',
    bio: 'Keeps the yard running and the books straight.',
    email: 'admin@example.com',
    password: 'admin-Passw0rd!',
    role: 'ADMIN',
    plan: 'enterprise',
    requestsPerMinute: 10_000,
  },
  {
    name: 'Tobias Achterberg',
    bio: 'Reads every comment, and has a kind word for most.',
    email: 'moderator@example.com',
    password: 'moderator-Passw0rd!',
    role: 'MODERATOR',
    plan: 'pro',
    requestsPerMinute: null,
  },
  {
    name: 'Ada Okonkwo',
    bio: 'Structural engineer. Timber by day, footbridges by weekend.',
    email: 'ada@example.com',
    password: 'ada-Passw0rd!',
    role: 'USER',
    plan: 'pro',
    requestsPerMinute: null,
  },
  {
    name: 'Bob Tanaka',
    bio: 'Learning to weld. Owner of far too many clamps.',
    email: 'bob@example.com',
    password: 'bob-Passw0rd!',
    role: 'USER',
    plan: 'free',
    requestsPerMinute: null,
  },
] as const;

const random = createRandom('accounts');

/** Lists the demo accounts with their passwords and ids. */
export const DEMO_ACCOUNTS = ACCOUNTS.map((account, index) => {
  const createdAt = later(STORY_BEGINS, index * MINUTE);
  return { ...account, createdAt, id: random.id('usr', createdAt), keyId: random.id('key', createdAt) };
});
