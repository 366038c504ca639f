/** The GraphQL fields of events. */
import { connectionResolvers } from '@trestle/chassis/paging/connection';
import { requireCaller } from '@trestle/chassis/request/context';
import type { Resolvers } from '../generated/resolvers.ts';
import { listEvents } from './list-events.ts';
import { JournalSelection } from './live.ts';
import { toEventScope, toSource } from './rules.ts';

export const journalResolvers: Resolvers = {
  Query: {
    events: (_, args, context) => listEvents(requireCaller(context), args, context.stores.journal),
  },
  Subscription: {
    eventAdded: { subscribe: (_, { types }, context) => new JournalSelection(toEventScope(requireCaller(context), types)) },
  },
  Event: {
    source: ({ source }) => toSource(source),
  },
  EventConnection: connectionResolvers,
};
