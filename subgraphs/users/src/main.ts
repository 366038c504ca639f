/** The users process. */
import type { Events } from '@trestle/chassis/events/events';
import { runSubgraph } from '@trestle/chassis/server/run-subgraph';
import type { Background, Chassis } from '@trestle/chassis/server/subgraph';
import { systemClock } from '@trestle/chassis/values/clock';
import { createIds } from '@trestle/chassis/values/ids';
import { type SigningKeySource, watchSigningKey } from '@trestle/identity/key-source';
import { createTokenIssuer } from '@trestle/identity/tokens';
import { EXCHANGE_PATH, createExchangeHandler } from './api-key/exchange.ts';
import { readConfig } from './config.ts';
import { type UsersDependencies, createUsersContext } from './context.ts';
import { createAttempts } from './login/attempts.ts';
import { createAuthenticate } from './login/authenticate.ts';
import { createConfirmPassword } from './login/confirm-password.ts';
import { createAccounts } from './oauth/accounts.ts';
import { type OAuthServer, createOAuthServer } from './oauth/server.ts';
import { resolvers } from './resolvers.ts';
import { readRevocations } from './revocation/event-source.ts';
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

const config = readConfig();

await runSubgraph({
  name: 'users',
  port: config.USERS_PORT,
  databaseUrl: config.USERS_DATABASE_URL,
  settings: config,
  create: ({ database, revocations, verifier, publicKeys, log }) => {
    const signingKey = watchSigningKey({ path: config.TOKEN_PRIVATE_KEY_FILE, log });
    const createId = createIds({ now: Date.now });
    const { idempotency, transact, close } = openUsersStores({ database, createId, clock: systemClock });
    const publisher = new RevocationPublisher({ revocations });
    const { stores } = idempotency;
    const passwords = createPasswords();
    const secret = config.API_KEY_SECRET_FILE;
    const attempts = createAttempts({ transact, secret });
    const checks = { users: stores.users, passwords, attempts };
    const factors = {
      totp: createTotp({ secret, now: Date.now }),
      recoveryCodes: createRecoveryCodes(secret),
      passkeys: config.oauth && createPasskeys(config.oauth.issuer),
    };
    const isRequiredForAdmins = config.REQUIRE_ADMIN_SECOND_FACTOR;
    const dependencies = {
      createId,
      clock: systemClock,
      apiKeySecret: secret,
      transact,
      refreshCookie: createRefreshCookie({ isSecure: config.SECURE_COOKIES }),
      passwords,
      authenticate: createAuthenticate(checks),
      confirmPassword: createConfirmPassword(checks),
      attempts,
      secondFactors: createSecondFactors({ stores, transact, attempts, isRequiredForAdmins, ...factors }),
      ...factors,
      tokens: createTokenIssuer({ keys: signingKey }),
      revoke: publisher.revoke.bind(publisher),
    };
    const startBackground = (events: Events): Background => {
      const stopReading = readRevocations({ events, revocations, log, onComplete: publisher.open.bind(publisher) });
      const stop = () => {
        stopReading();
        publisher.stop();
      };
      return { upgrades: { '/revocations': publisher.upgrade.bind(publisher) }, stop };
    };
    const exchange = createExchangeHandler({ ...stores, ...dependencies, now: Date.now, log });
    const oauth = config.oauth && openOAuthServer(config.oauth, { database, verifier, publicKeys, log, stores, dependencies, signingKey });
    return {
      resolvers,
      authRules,
      createContext: (request) => createUsersContext(request, idempotency, dependencies),
      topics: createTopics(stores),
      endpoints: { [EXCHANGE_PATH]: exchange, ...(oauth && { '/oauth/': oauth.handle, '/.well-known/': oauth.handle }) },
      startBackground,
      async sweep() {
        const { sessions, attempts, apiKeys, securityEvents } = stores;
        const days = config.SECURITY_EVENTS_RETENTION_DAYS;
        await Promise.all([sessions.sweep(), attempts.sweep(), apiKeys.sweep(), securityEvents.sweep(days)]);
        await Promise.all([idempotency.sweep(), stores.challenges.sweep(), oauth?.sweep()]);
      },
      close: async () => {
        signingKey.stop();
        await close();
      },
    };
  },
});

type OAuthParts = Pick<Chassis, 'database' | 'verifier' | 'publicKeys' | 'log'> & {
  readonly stores: UsersStores;
  readonly dependencies: UsersDependencies;
  readonly signingKey: SigningKeySource;
};

/** Creates the authorization server on the stores of this process. */
function openOAuthServer(
  settings: NonNullable<typeof config.oauth>,
  { database, verifier, publicKeys, log, stores, dependencies, signingKey }: OAuthParts,
): OAuthServer {
  const { authenticate, secondFactors, tokens, revoke } = dependencies;
  return createOAuthServer({
    ...settings,
    ...createAccounts({ ...stores, authenticate, secondFactors }),
    signingKey,
    publicKeys,
    query: database.query,
    verifier,
    log,
    tokens,
    publish: revoke,
  });
}
