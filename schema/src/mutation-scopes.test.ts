import { describe, expect, it } from '@jest/globals';
import { Kind, parse } from 'graphql';
import { readFieldAccess } from './field-access.ts';
import { readSubgraphSdl } from './sdl.ts';
import { SUBGRAPH_NAMES } from './subgraphs.ts';

/** The mutations that demand no scope of a credential, each with its reason. Every other one must demand one. */
const WITHOUT_SCOPE: Readonly<Record<string, string>> = {
  createUser: 'anonymous callers may use it: it creates the account',
  login: 'a password is the credential',
  completeLogin: 'a challenge and a second factor are the credential',
  refreshSession: 'the cookie with the refresh token is the credential',
  requestPasswordReset: 'anonymous callers may use it: only the owner of the address gets the link',
  resetPassword: 'the token of a mailed link is the credential',
  cancelJob: 'the scope depends on the kind of the job: the rules of jobs demand it',
  retryJob: 'the scope depends on the kind of the job: the rules of jobs demand it',
  cancelContentJob: 'as cancelJob, which calls it',
  retryContentJob: 'as retryJob, which calls it',
  logout: 'every token may end its own session; the rules demand account:manage for all sessions',
};

const mutations = SUBGRAPH_NAMES.flatMap((name) =>
  parse(readSubgraphSdl(name)).definitions.flatMap((definition) =>
    definition.kind === Kind.OBJECT_TYPE_DEFINITION && definition.name.value === 'Mutation'
      ? (definition.fields ?? []).map((field) => field.name.value)
      : [],
  ),
);
const access = readFieldAccess();
const demandsScope = (name: string) => access.get(`Mutation.${name}`)?.every((scopes) => scopes.length > 0) ?? false;

describe('the scopes of mutations', () => {
  it.each(mutations)('limit %s, or it is listed with a reason', (name) => {
    expect([name, demandsScope(name)]).toEqual([name, !(name in WITHOUT_SCOPE)]);
  });

  it('are left out only for mutations that exist', () => {
    expect(Object.keys(WITHOUT_SCOPE).filter((name) => !mutations.includes(name))).toEqual([]);
  });
});
