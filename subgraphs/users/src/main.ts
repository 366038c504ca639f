/** The users process. */
import type { Query } from '@trestle/chassis/database/query';
import type { EventFeed } from '@trestle/chassis/events/feeds/domain-event';
import type { Events } from '@trestle/chassis/events/source-streams/events';
import { runSubgraph } from '@trestle/chassis/server/run-subgraph';
import type { Background, Chassis, Endpoint } from '@trestle/chassis/server/subgraph';
import { FILES_PATH, createFileEndpoint } from '@trestle/chassis/server/file-endpoint';
import { readSweepTime } from '@trestle/chassis/server/sweep-time';
import type { Sweep } from '@trestle/chassis/server/sweeps';
import { systemClock } from '@trestle/chassis/values/clock';
import { createIds } from '@trestle/chassis/values/ids';
import { type SigningKeySource, watchSigningKey } from '@trestle/identity/tokens/key-source';
import type { Revocation } from '@trestle/identity/revocations/revocations';
import { openFileStore, warnOfEarlySweep } from '@trestle/files/settings';
import { sweepFiles } from '@trestle/files/sweep-files';
import { createTokenIssuer } from '@trestle/identity/tokens/tokens';
import { toRevocationSeconds } from '@trestle/identity/verification/trusted-issuers';
import type { Registry } from 'prom-client';
import { EXCHANGE_PATH, createExchangeHandler } from './api-key/exchange.ts';
import { AVATAR_FILES, MAX_AVATAR_BYTES } from './avatar/rules.ts';
import { readConfig } from './config.ts';
import { type UsersDependencies, createUsersContext } from './context.ts';
import { openJobs } from './job/open-jobs.ts';
import type { DeliveryWorker } from './delivery/worker.ts';
import { startJournal } from './journal/append.ts';
import { createLiveJournal } from './journal/live.ts';
import { createAttempts } from './login/attempts.ts';
import { createAuthenticate } from './login/authenticate.ts';
import { createConfirmPassword } from './login/confirm-password.ts';
import { createAccounts } from './oauth/accounts.ts';
import type { OAuthServer } from './oauth/server.ts';
import { resolvers } from './resolvers.ts';
import { readRevocations } from './revocation/event-source.ts';
import { RevocationPeers } from './revocation/peers.ts';
import { RevocationPublisher } from './revocation/publisher.ts';
import { createPasskeys } from './second-factor/passkeys.ts';
import { createRecoveryCodes } from './second-factor/recovery-codes.ts';
import { createSecondFactors } from './second-factor/second-factors.ts';
import { createTotp } from './second-factor/totp.ts';
import { createRefreshCookie } from './session/refresh-cookie.ts';
import { type UsersStores, openUsersStores } from './stores.ts';
import { createTopics } from './topics.ts';
import { createPasswords } from './user/passwords.ts';
import { authRules } from './user/resolvers.ts';
import { createWebhooks } from './webhook/webhooks.ts';

const config = readConfig();
const files = await openFileStore(config, 'users');
/** Loaded where it is used only: its libraries take half as long to load as everything else. */
const oauthModule = config.oauth && (await import('./oauth/server.ts'));

await runSubgraph({
  name: 'users',
  port: config.USERS_PORT,
  databaseUrl: config.USERS_DATABASE_URL,
  settings: config,
  create: ({ database, revocations, verifier, publicKeys, log }) => {
    const signingKey = watchSigningKey({ path: config.TOKEN_PRIVATE_KEY_FILE, log });
    const createId = createIds({ now: Date.now });
    const { idempotency, transact, close } = openUsersStores({ database, createId, clock: systemClock });
    const { publisher, peers, revoke } = createPublication({ revocations, log });
    const { stores } = idempotency;
    const passwords = createPasswords();
    const secret = config.API_KEY_SECRET_FILE;
    const attempts = createAttempts({ transact, secret });
    const checks = { users: stores.users, passwords, attempts };
    const factors = createFactors(secret);
    const jobs = openJobs({
      ...{ stores, transact, passwords, attempts, revoke, secret, log, origin: config.oauth?.issuer },
      ...{ contentUrl: config.CONTENT_URL, smtpUrl: config.SMTP_URL, mailFrom: config.MAIL_FROM },
    });
    const isRequiredForAdmins = config.REQUIRE_ADMIN_SECOND_FACTOR;
    const live = createLiveJournal({ url: config.USERS_DATABASE_URL, journal: stores.journal, log });
    const { worker, ...webhooks } = createWebhooks(config, { deliveries: stores.deliveries, log });
    const dependencies = {
      createId,
      clock: systemClock,
      apiKeySecret: secret,
      transact,
      webhooks,
      refreshCookie: createRefreshCookie({ isSecure: config.SECURE_COOKIES }),
      passwords,
      authenticate: createAuthenticate(checks),
      confirmPassword: createConfirmPassword(checks),
      attempts,
      secondFactors: createSecondFactors({ stores, transact, attempts, isRequiredForAdmins, ...factors }),
      ...factors,
      tokens: createTokenIssuer({ keys: signingKey }),
      revoke,
      ...jobs.dependencies,
    };
    const exchange = createExchangeHandler({ ...stores, ...dependencies, now: Date.now, log });
    const oauth = openOAuthServer({ database, verifier, publicKeys, log, stores, dependencies, signingKey });
    warnOfEarlySweep(config, log);
    return {
      resolvers,
      authRules,
      createContext: (request) => createUsersContext(request, idempotency, dependencies),
      topics: createTopics(stores),
      endpoints: { ...jobs.endpoints, ...toEndpoints(exchange, serveAvatars(stores, log), oauth) },
      uploads: { files, prefix: AVATAR_FILES, maxBytes: MAX_AVATAR_BYTES, createId: () => createId('fil') },
      sources: { eventAdded: live.open },
      startBackground: (events, feeds, metrics) =>
        startBackground({ events, feeds, metrics, database, revocations, publisher, peers, worker, log }),
      startJobs: jobs.start,
      sweeps: [...sweepsOfStores(stores, database.query), idempotency.sweep, ...(oauth ? [() => oauth.sweep()] : []), () => jobs.sweep()],
      close: async () => {
        await Promise.all([worker.stop(), live.close()]);
        signingKey.stop();
        files.close();
        await close();
      },
    };
  },
});

/** Creates what sends revocations to the verifiers of this process and of all others. */
function createPublication({ revocations, log }: Pick<Chassis, 'revocations' | 'log'>) {
  const publisher = new RevocationPublisher({ revocations });
  const peers = new RevocationPeers({ url: config.USERS_DATABASE_URL, apply: publisher.revoke.bind(publisher), log });
  const revoke = async (revocation: Revocation) => {
    await Promise.all([publisher.revoke(revocation), peers.revoke(revocation)]);
  };
  return { publisher, peers, revoke };
}

/** Creates the kinds of second factors. */
function createFactors(secret: string) {
  return {
    totp: createTotp({ secret, now: Date.now }),
    recoveryCodes: createRecoveryCodes(secret),
    passkeys: config.oauth && createPasskeys(config.oauth.issuer),
  };
}

/** Returns the endpoints beside `/graphql`; those of the authorization server, if there is one. */
function toEndpoints(exchange: Endpoint, avatars: Endpoint, oauth: OAuthServer | undefined): Record<string, Endpoint> {
  const own = { [EXCHANGE_PATH]: exchange, [FILES_PATH]: avatars };
  return oauth ? { ...own, '/oauth/': oauth.handle, '/.well-known/': oauth.handle } : own;
}

/** Creates the endpoint at which the bridge reads pictures. */
function serveAvatars({ avatars }: Pick<UsersStores, 'avatars'>, log: Chassis['log']) {
  return createFileEndpoint({ files, ticketKey: config.CLIENT_ID_KEY_FILE, find: (id) => avatars.findFile(id), log });
}

/** Returns the sweeps of expired rows, and of pictures that no account names. */
function sweepsOfStores(stores: UsersStores, query: Query): Sweep[] {
  const { avatars, securityEvents, journal, sessions, attempts, apiKeys, challenges, webhooks, deliveries } = stores;
  const sweepPictures = async () => {
    const before = await readSweepTime(query, config.FILES_SWEEP_AFTER_SECONDS);
    await sweepFiles({ files, prefix: AVATAR_FILES, findUsed: (keys) => avatars.findFileKeys(keys), before });
  };
  return [
    ...[sessions, attempts, apiKeys, challenges, webhooks, deliveries].map((store) => () => store.sweep()),
    () => securityEvents.sweep(config.SECURITY_EVENTS_RETENTION_DAYS),
    () => journal.sweep(config.EVENTS_RETENTION_HOURS),
    sweepPictures,
  ];
}

interface BackgroundParts extends Pick<Chassis, 'revocations' | 'database' | 'log'> {
  readonly feeds: readonly EventFeed[];
  readonly events: Events;
  readonly metrics: Registry;
  readonly publisher: RevocationPublisher;
  readonly peers: RevocationPeers;
  readonly worker: DeliveryWorker;
}

/** Starts what runs beside requests: deliveries, and the publication of revocations. */
function startBackground(parts: BackgroundParts): Background {
  const { events, feeds, metrics, database, revocations, publisher, peers, worker, log } = parts;
  worker.start();
  const journal = startJournal({ feeds, database, log, metrics, onAppend: worker.wake.bind(worker) });
  // A verifier that connects to this process is waited for by all others.
  const connected = peers.start();
  const foreignSeconds = toRevocationSeconds(config.TRUSTED_ISSUERS_FILE);
  const onComplete = () => void connected.then(publisher.open.bind(publisher));
  const stopReading = readRevocations({ events, revocations, foreignSeconds, log, onComplete });
  const stop = () => {
    void journal.stop();
    stopReading();
    void peers.stop();
    publisher.stop();
  };
  return { upgrades: { '/revocations': publisher.upgrade.bind(publisher) }, stop };
}

type OAuthParts = Pick<Chassis, 'database' | 'verifier' | 'publicKeys' | 'log'> & {
  readonly stores: UsersStores;
  readonly dependencies: UsersDependencies;
  readonly signingKey: SigningKeySource;
};

/** Creates the authorization server on the stores of this process; undefined without a public origin. */
function openOAuthServer({ database, verifier, publicKeys, log, stores, dependencies, signingKey }: OAuthParts): OAuthServer | undefined {
  const { authenticate, secondFactors, tokens, revoke } = dependencies;
  if (!config.oauth || !oauthModule) return undefined;
  return oauthModule.createOAuthServer({
    ...config.oauth,
    ...createAccounts({ ...stores, authenticate, secondFactors }),
    signingKey,
    publicKeys,
    query: database.query,
    attempts: stores.attempts,
    verifier,
    log,
    tokens,
    publish: revoke,
  });
}
