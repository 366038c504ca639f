/** The GraphQL fields of second factors (ADR 21). */
import { requireCaller } from '@trestle/chassis/request/context';
import type { Resolvers } from '../generated/resolvers.ts';
import { confirmTotp, createRecoveryCodes, removeTotp, startTotp } from './mutations.ts';
import { addPasskey, removePasskey, startPasskey } from './passkey-mutations.ts';
import { hasSecondFactor } from './second-factors.ts';

export const secondFactorResolvers: Resolvers = {
  Query: {
    secondFactor: (_, __, context) => context.stores.secondFactors.status(requireCaller(context).userId),
  },
  Mutation: {
    startTotp: (_, args, context) => startTotp(args, context),
    confirmTotp: async (_, args, context) => ({ recoveryCodes: await confirmTotp(args, context) }),
    removeTotp: (_, args, context) => removeTotp(args, context),
    startPasskey: (_, args, context) => startPasskey(args, context),
    addPasskey: async (_, args, context) => ({ recoveryCodes: await addPasskey(args, context) }),
    removePasskey: (_, args, context) => removePasskey(args, context),
    createRecoveryCodes: async (_, args, context) => ({ recoveryCodes: await createRecoveryCodes(args, context) }),
  },
  SecondFactor: {
    isEnabled: (status) => hasSecondFactor(status),
    passkeys: (_, __, context) => context.stores.passkeys.list(requireCaller(context).userId),
  },
};
