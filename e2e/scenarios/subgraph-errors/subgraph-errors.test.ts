/** What a client learns of errors that subgraphs report or make, through the command and real HTTP. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

let federation: Federation;
afterEach(() => federation.stop());

const users = ['1', '2', '3'].map((id) => ({ id }));
const resolveReference = { __resolveReference: (key: object) => key };
const sources = {
  accounts: {
    sdl: 'type Query { users: [User!]! me: User } type User @key(fields: "id") { id: ID! name: String }',
    resolvers: { Query: { users: () => users, me: () => users[0] }, User: { ...resolveReference, name: () => 'Ada' } },
  },
  shop: {
    sdl: 'type User @key(fields: "id") { id: ID! karma: Int! orders: Int }',
    resolvers: { User: { ...resolveReference, karma: () => 1, orders: () => 2 } },
  },
};

const report = (errors: readonly object[], data: object | null = null) => ({ data, errors });
const withoutRequestId = ({ requestId, ...others }: Record<string, unknown>) => {
  expect(requestId).toEqual(expect.any(String));
  return others;
};
const ask = async (query: string) => {
  const { data, errors = [] } = (await federation.ask(query)).body;
  return { data, errors: errors.map(({ message, path, extensions }) => ({ message, path, extensions: withoutRequestId(extensions) })) };
};

describe('an error that a subgraph reports', () => {
  const errors = [
    { message: 'Order 7 is locked', path: ['me'], extensions: { code: 'ROW_LOCKED', table: 'orders', stacktrace: ['at x'] } },
    { message: 'No such user', path: ['me'], extensions: { code: 'NOT_FOUND' } },
    { message: 'boom', path: ['me'] },
  ];
  const at = { path: ['me'] };
  const notFound = { ...at, message: 'No such user', extensions: { code: 'NOT_FOUND', service: 'accounts' } };
  const masked = { ...at, message: 'Something went wrong on our side', extensions: { code: 'INTERNAL_ERROR', service: 'accounts' } };
  const passed = { ...at, message: 'Order 7 is locked', extensions: { code: 'ROW_LOCKED', table: 'orders', service: 'accounts' } };
  const nameless = { ...at, message: 'boom', extensions: { code: 'UPSTREAM_ERROR', service: 'accounts' } };
  const coded = { ...at, message: 'The subgraph accounts reported an error', extensions: { code: 'ROW_LOCKED', service: 'accounts' } };

  // Contract §3: unknown faults are masked; the command serves graphs whose codes it does not know.
  it.each([
    ['passes with --auth off', {}, [passed, notFound, nameless]],
    ['is masked by SUBGRAPH_ERRORS=mask', { SUBGRAPH_ERRORS: 'mask' }, [masked, notFound, masked]],
    [
      'has its code by SUBGRAPH_ERRORS_<NAME>=codes',
      { SUBGRAPH_ERRORS: 'mask', SUBGRAPH_ERRORS_ACCOUNTS: 'codes' },
      [coded, notFound, masked],
    ],
    [
      'has the extensions of a list with `pass`',
      { SUBGRAPH_ERROR_EXTENSIONS_DENY: 'table' },
      [{ ...coded, message: passed.message }, notFound, nameless],
    ],
    [
      'has the extensions of a list with `codes`',
      { SUBGRAPH_ERRORS: 'codes', SUBGRAPH_ERROR_EXTENSIONS_ALLOW_ACCOUNTS: 'table,stacktrace' },
      [{ ...passed, message: coded.message }, notFound, masked],
    ],
  ])('%s', async (_, env: Record<string, string>, expected) => {
    federation = await startFederation(sources, { env });
    federation.intercept = () => report(errors, { me: null });
    expect(await ask('{ me { id } }')).toEqual({ data: { me: null }, errors: expected });
  });
});

describe('a subgraph that fails', () => {
  // GraphQL §6.4.4: null of a non-null field makes the data null, so that the other fields have no errors of their own.
  it.each([{}, { EXECUTOR: 'objects' }])('causes no error at a field that succeeded beside a non-null one, with %j', async (env) => {
    federation = await startFederation(sources, { env });
    federation.intercept = () => report([{ message: 'too long', path: ['b'], extensions: { code: 'VALIDATION_ERROR' } }]);
    expect(await ask('{ a: users { id } b: users { id } }')).toEqual({
      data: null,
      errors: [{ message: 'too long', path: ['b'], extensions: { code: 'VALIDATION_ERROR', service: 'accounts' } }],
    });
  });

  // GraphQL §7.1.2: the path of an error leads to the field that has it.
  it('causes one error at each missing field, and no other error', async () => {
    federation = await startFederation(sources);
    federation.intercept = ({ subgraph }) => (subgraph === 'shop' ? report([{ message: 'boom', extensions: { code: 'X' } }]) : undefined);
    const error = { message: 'boom', extensions: { code: 'X', service: 'shop' } };
    expect(await ask('{ users { id orders } }')).toEqual({
      data: { users: users.map(({ id }) => ({ id, orders: null })) },
      errors: users.map((_, i) => ({ ...error, path: ['users', i, 'orders'] })),
    });
    expect(await ask('{ users { id } me { karma name } }')).toEqual({
      data: { users, me: null },
      errors: [{ ...error, path: ['me', 'karma'] }],
    });
    federation.intercept = ({ subgraph }) => (subgraph === 'shop' ? { data: { _entities: [] } } : undefined);
    const { errors } = await ask('{ users { orders } }');
    expect(errors.map(({ path, extensions }) => [path, extensions])).toEqual(
      users.map((_, i) => [['users', i, 'orders'], { code: 'UPSTREAM_ERROR', service: 'shop' }]),
    );
  });

  it('causes no error at the root when its error has no path', async () => {
    federation = await startFederation(sources);
    federation.intercept = () => report([{ message: 'boom', path: [], extensions: { code: 'X' } }]);
    const { body } = await federation.ask('{ me { id } users { id } }');
    expect(body.data).toBeNull();
    expect(body.errors?.map(({ message }) => message)).toEqual(['boom']);
    expect(body.errors?.[0]).not.toHaveProperty('path');
  });

  it('is reported as an error of its own when it is down', async () => {
    federation = await startFederation(sources);
    await federation.halt('shop');
    const { data, errors } = await ask('{ users { name orders } }');
    expect(data?.['users']).toHaveLength(3);
    expect(errors).toEqual(
      users.map((_, i) => ({
        message: 'The request to the subgraph shop failed.',
        path: ['users', i, 'orders'],
        extensions: { code: 'UPSTREAM_ERROR', service: 'shop' },
      })),
    );
  });
});
