/** The stores of this subgraph on one Prisma client, which may be that of a transaction. */
import type { Database } from '@trestle/chassis/database/database';
import { type JobStore, createJobStore } from '@trestle/chassis/jobs/job-store';
import { createIdempotency } from '@trestle/chassis/stores/idempotency';
import type { StoreOptions } from '@trestle/chassis/stores/row-store';
import { type ApiKeyStore, createApiKeyStore } from './api-key/store.ts';
import { type AuthorizationStore, createAuthorizationStore } from './authorization/store.ts';
import { type DeliveryStore, createDeliveryStore } from './delivery/store.ts';
import { type JournalStore, createJournalStore } from './journal/store.ts';
import { type AvatarStore, createAvatarStore } from './avatar/store.ts';
import { type AttemptStore, createAttemptStore } from './login/attempt-store.ts';
import { type ChallengeStore, createChallengeStore } from './second-factor/challenges.ts';
import { type PasswordResetStore, createPasswordResetStore } from './password-reset/store.ts';
import { type PasskeyStore, createPasskeyStore } from './second-factor/passkey-store.ts';
import { type SecondFactorStore, createSecondFactorStore } from './second-factor/store.ts';
import { type SecurityEventStore, createSecurityEventStore } from './security/store.ts';
import { type SessionStore, createSessionStore } from './session/store.ts';
import { type UserClient, type UserStore, createUserStore, openPrisma } from './user/store.ts';
import { type WebhookStore, createWebhookStore } from './webhook/store.ts';

export interface UsersStores {
  readonly users: UserStore;
  readonly avatars: AvatarStore;
  readonly apiKeys: ApiKeyStore;
  readonly sessions: SessionStore;
  readonly authorizations: AuthorizationStore;
  readonly securityEvents: SecurityEventStore;
  readonly attempts: AttemptStore;
  readonly challenges: ChallengeStore;
  readonly secondFactors: SecondFactorStore;
  readonly passkeys: PasskeyStore;
  readonly jobs: JobStore;
  readonly passwordResets: PasswordResetStore;
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryStore;
  readonly journal: JournalStore;
}

interface Dependencies extends Omit<StoreOptions<never>, 'prisma'> {
  readonly database: Database;
}

/** Runs several writes in one transaction, on stores of their own. */
export type Transact = <T>(work: (stores: UsersStores) => Promise<T>) => Promise<T>;

/** Opens the stores, what runs their writes once for each Idempotency-Key, and what runs several in one transaction. */
export function openUsersStores({ database, ...options }: Dependencies) {
  const prisma = openPrisma(database);
  const createStores = (client: UserClient): UsersStores => {
    const users = createUserStore({ ...options, prisma: client });
    return {
      users,
      avatars: createAvatarStore({ prisma: client, clock: options.clock, findDeleted: users.findDeleted }),
      sessions: createSessionStore({ ...options, prisma: client }),
      authorizations: createAuthorizationStore(client),
      apiKeys: createApiKeyStore({ ...options, prisma: client, findDeleted: users.findDeleted }),
      securityEvents: createSecurityEventStore(client),
      attempts: createAttemptStore(client),
      challenges: createChallengeStore(client),
      secondFactors: createSecondFactorStore(client),
      passkeys: createPasskeyStore(client, options.createId),
      jobs: createJobStore({ ...options, prisma: client }),
      passwordResets: createPasswordResetStore(client),
      webhooks: createWebhookStore({ ...options, prisma: client, findDeleted: users.findDeleted }),
      deliveries: createDeliveryStore(client),
      journal: createJournalStore(client),
    };
  };
  const transact: Transact = (work) => prisma.$transaction((transaction) => work(createStores(transaction)));
  const idempotency = createIdempotency<UserClient, UsersStores>({
    prisma,
    createStores,
  });
  return { idempotency, transact, close: () => prisma.$disconnect() };
}
