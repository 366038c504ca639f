/** What can be changed of accounts (spec §4.5, contract §3). */
import { requireCaller } from '@trestle/chassis/context';
import { fail } from '@trestle/schema/errors';
import type { MutationResolvers } from '../generated/resolvers.ts';
import { allowChange, allowDelete, checkNewUser, readUserChange } from '../user.ts';

export const Mutation: MutationResolvers = {
  async createUser(_, { input }, { users, passwords }) {
    checkNewUser(input);
    const user = await users.create(input, await passwords.hash(input.password));
    return { ...user, isProven: true };
  },

  async updateUser(_, { id, input, expectedVersions }, context) {
    const caller = requireCaller(context);
    context.forget();
    const user = await context.userById.load(id);
    if (!user)
      throw (await context.deletedById.load(id)) ? fail('GONE', 'The account was deleted') : fail('NOT_FOUND', 'There is no such account');
    const change = allowChange(caller, user, readUserChange(input));
    return context.users.update(id, change, expectedVersions);
  },

  async deleteUser(_, { id, expectedVersions }, context) {
    const caller = requireCaller(context);
    context.forget();
    if (!(await context.userById.load(id))) throw fail('NOT_FOUND', 'There is no such account');
    allowDelete(caller, id);
    await context.users.delete(id, expectedVersions);
    return true;
  },

  async login(_, { email, password }, { users, passwords, tokens }) {
    const user = await users.findForLogin(email);
    const fits = await passwords.matches(password, user?.passwordHash ?? null);
    if (!user || !fits || !user.isActive) throw fail('UNAUTHORIZED', 'E-mail address or password is wrong');
    const { token, expiresInSeconds } = tokens.issue(user);
    return { token, expiresIn: expiresInSeconds, user: { ...user, isProven: true } };
  },
};
