/**
 * Measures the CPU time of single calls in this process: the verification of a token that is known, the rate limit of a request, and the refusal of
 * an API key with a wrong checksum.
 */
import { createApiKeyExchange } from '@trestle/identity/credentials/api-key-exchange';
import { createApiKey } from '@trestle/identity/credentials/api-keys';
import { createTestGrant } from '@trestle/identity/tokens/test-identity';
import { createTokenIssuer, generateTokenKeys } from '@trestle/identity/tokens/tokens';
import { createTokenVerifier } from '@trestle/identity/verification/token-verifier';
import { createQuota } from '@trestle/limits/quota';
import { createRateLimiter } from '@trestle/limits/rate-limiter';
import { createSlidingWindows } from '@trestle/limits/sliding-windows';
import { Registry } from 'prom-client';

const CALLERS = 1000;
const CALLS = 20_000;
const ROUNDS = 15;
const PER_MINUTE = 1000;

/** Returns microseconds of CPU for each call, the medians of several rounds. */
export function measureCalls() {
  const verify = prepareVerify();
  const limiter = prepareLimiter();
  const wrongKey = prepareWrongKey();
  const rounds = Array.from({ length: ROUNDS }, () => ({ verify: verify(), limiter: limiter(), wrongKey: wrongKey() }));
  const median = (name) => rounds.map((round) => round[name]).toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)];
  return { verify: median('verify'), limiter: median('limiter'), wrongKey: median('wrongKey') };
}

function prepareVerify() {
  const keys = generateTokenKeys();
  const issuer = createTokenIssuer(keys);
  const verifier = createTokenVerifier(keys);
  const tokens = Array.from({ length: CALLERS }, (_, i) => issuer.issue(createTestGrant({ id: `usr_${i}` })).token);
  for (const token of tokens) verifier.verify(token);
  return () => {
    // Copies, because a request brings a string whose hash is not known yet.
    const received = Array.from({ length: CALLS }, (_, i) => Buffer.from(tokens[i % CALLERS]).toString('latin1'));
    return microseconds(() => {
      for (const token of received) verifier.verify(token);
    });
  };
}

function prepareLimiter() {
  const limiter = createRateLimiter({ windows: createSlidingWindows() });
  const done = () => undefined;
  return () =>
    microseconds(() => {
      for (let i = 0; i < CALLS; i++) {
        const quota = createQuota(limiter, { key: `user:usr_${i % CALLERS}`, policy: 'pro', limit: PER_MINUTE });
        quota.begin(done);
        quota.headersFor(200);
      }
    });
}

/** The exchange refuses the key without a request: nothing listens at its address. */
function prepareWrongKey() {
  const verifier = createTokenVerifier(generateTokenKeys());
  const exchange = createApiKeyExchange({ url: 'http://127.0.0.1:9/', verifier, metrics: new Registry() });
  const sender = { headers: [], reserve: () => undefined };
  const keys = Array.from({ length: CALLERS }, () => createApiKey().replace(/.$/, (last) => (last === '0' ? '1' : '0')));
  return () =>
    microseconds(() => {
      for (let i = 0; i < CALLS; i++) {
        try {
          exchange.tokenFor({ value: keys[i % CALLERS], isInUrl: false }, sender);
        } catch {
          continue;
        }
        throw new Error('A key with a wrong checksum was not refused');
      }
    });
}

function microseconds(work) {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}
