/** What can be changed of accounts (spec §4.5, contract §3). */
import { requireCaller } from '@trestle/chassis/request/context';
import { Fault, fail } from '@trestle/schema/errors';
import type { UsersContext } from '../context.ts';
import type { MutationResolvers } from '../generated/resolvers.ts';
import { type User, allowChange, allowDelete, allowFirst, checkNewUser, readFirst, readReplacement, readUserChange } from '../user.ts';

export const Mutation: MutationResolvers = {
  async createUser(_, args, { create, passwords }, info) {
    const { input } = args;
    checkNewUser(input);
    const hash = await passwords.hash(input.password);
    // What is kept for a retry is the account without its password's hash: the store never gives that.
    const user = await create({ args, info }, (users) => users.create(input, hash));
    return { ...user, isProven: true };
  },

  async updateUser(_, { id, input, expectedVersions }, context) {
    const caller = requireCaller(context);
    context.forget();
    const user = await context.userById.load(id);
    if (!user)
      throw (await context.deletedById.load(id)) ? fail('GONE', 'The account was deleted') : fail('NOT_FOUND', 'There is no such account');
    const change = allowChange(caller, user, readUserChange(input));
    return endTokens(context, user, await context.users.update(id, change, expectedVersions));
  },

  async replaceUser(_, { id, input, expectedVersions }, context) {
    const caller = requireCaller(context);
    context.forget();
    const user = await context.userById.load(id);
    if (user) {
      const change = allowChange(caller, user, readReplacement(input));
      return endTokens(context, user, await context.users.update(id, change, expectedVersions));
    }
    if (await context.deletedById.load(id)) throw fail('GONE', 'The account was deleted');
    allowFirst(caller, id);
    const first = readFirst(input);
    if (expectedVersions && !expectedVersions.includes(0))
      throw fail('PRECONDITION_FAILED', 'The account has another version than expected');
    const made = context.users.createAt(id, first, await context.passwords.hash(first.password));
    // Somebody else was first: without a condition, none has failed.
    return made.catch((error: unknown) => {
      const isLate = error instanceof Fault && error.code === 'PRECONDITION_FAILED' && !expectedVersions;
      throw isLate ? fail('CONFLICT', 'The account was made at the same moment; try again') : error;
    });
  },

  async deleteUser(_, { id, expectedVersions }, context) {
    const caller = requireCaller(context);
    context.forget();
    if (!(await context.userById.load(id))) throw fail('NOT_FOUND', 'There is no such account');
    allowDelete(caller, id);
    await context.revoke({ userId: id, generation: await context.users.delete(id, expectedVersions) });
    return true;
  },

  async login(_, { email, password }, { users, passwords, tokens }) {
    const user = await users.findForLogin(email);
    const fits = await passwords.matches(password, user?.passwordHash ?? null);
    if (!user || !fits || !user.isActive) throw fail('UNAUTHORIZED', 'E-mail address or password is wrong');
    const { token, expiresInSeconds } = tokens.issue(user);
    return { token, expiresIn: expiresInSeconds, user: { ...user, isProven: true } };
  },

  async logout(_, { everywhere }, context) {
    const { userId, tokenId } = requireCaller(context);
    const generation = everywhere ? await context.users.revokeAllTokens(userId) : undefined;
    if (generation === undefined) await context.users.revokeToken(userId, tokenId);
    await context.revoke(generation === undefined ? { userId, tokenId } : { userId, generation });
    return true;
  },
};

/** A change of what tokens say of an account has ended them (ADR 10). */
async function endTokens({ revoke }: Pick<UsersContext, 'revoke'>, { tokenGeneration }: User, changed: User): Promise<User> {
  if (changed.tokenGeneration !== tokenGeneration) await revoke({ userId: changed.id, generation: changed.tokenGeneration });
  return changed;
}
