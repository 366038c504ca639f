/** Floods of REST requests that are right, but costly: each of them only as a load on others. */
import { type Attack, type Field, restAttack, scaled } from '../attack.ts';
import type { ServiceName } from '../target/system.ts';
import { type Sent, ask, countStatuses, inParallel } from '../wire/http.ts';

const JSON_TYPE = ['Content-Type', 'application/json'];
const times = (count: number, make: (index: number) => Sent): Sent[] => Array.from({ length: count }, (_, index) => make(index));

/** Compression costs more than the answer: many small requests that each want it. */
async function compress(field: Field): Promise<string> {
  const { connections, addresses } = field;
  const replies = await inParallel(scaled(field, 2000), 32, (n) =>
    ask(connections, addresses['rest-bridge'], {
      path: `/v1/posts?limit=100&n=${n}`.replace(/&n=.*/, ''),
      headers: ['Accept-Encoding', n % 2 === 0 ? 'br' : 'gzip'],
    }),
  );
  return countStatuses(replies);
}

async function assets(field: Field, target: ServiceName): Promise<string> {
  const { connections, addresses } = field;
  const paths =
    target === 'gateway'
      ? ['/graphql', '/', '/graphql/graphiql.js']
      : ['/docs', '/openapi.json', '/v1/openapi.json', '/v2/openapi.json', '/'];
  const replies = await inParallel(scaled(field, 1500), 32, (n) =>
    ask(connections, addresses[target], {
      path: paths[n % paths.length] ?? '/',
      headers: ['Accept', 'text/html,*/*', 'Accept-Encoding', 'br, gzip'],
    }),
  );
  return countStatuses(replies);
}

/** argon2 takes 50 ms of a core and 19 MiB: logins wait for each other, others must not. */
async function logins(field: Field): Promise<string> {
  const body = (n: number) => JSON.stringify({ email: `nobody${n}@example.org`, password: 'x'.repeat(n % 3 === 0 ? 20 : 500) });
  const requests = times(scaled(field, 400), (n) => ({ path: '/v1/auth/login', headers: JSON_TYPE, body: body(n), patienceMs: 60_000 }));
  return countStatuses(
    await inParallel(requests.length, 64, (n) => ask(field.connections, field.addresses['rest-bridge'], requests[n] as Sent)),
  );
}

async function signUps(field: Field): Promise<string> {
  const body = (n: number) => JSON.stringify({ email: `flood${n}@example.org`, name: `Flood ${n}`, password: `flood-passes-${n}` });
  const requests = times(scaled(field, 300), (n) => ({ path: '/v1/users', headers: JSON_TYPE, body: body(n), patienceMs: 60_000 }));
  return countStatuses(
    await inParallel(requests.length, 64, (n) => ask(field.connections, field.addresses['rest-bridge'], requests[n] as Sent)),
  );
}

export const REST_FLOODS: readonly Attack[] = [
  restAttack('a flood of answers to compress', compress, { clause: 'Compression does not starve others', isLoad: true }),
  restAttack('a flood of requests for documents', (field) => assets(field, 'rest-bridge'), {
    clause: 'Documents are made once',
    isLoad: true,
  }),
  restAttack('a flood of requests for GraphiQL', (field) => assets(field, 'gateway'), {
    target: 'gateway',
    clause: 'Assets are made once',
    isLoad: true,
  }),
  restAttack('a flood of logins', logins, {
    target: 'users',
    clause: 'Two password hashes at a time; what waits is bounded',
    isLoad: true,
  }),
  restAttack('a flood of new accounts', signUps, {
    target: 'users',
    clause: 'Two password hashes at a time; what waits is bounded',
    isLoad: true,
  }),
];
