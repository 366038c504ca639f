/** Routes of channels and their messages. */
import { CHANNEL, MESSAGE } from '../resources/resources.ts';
import { create, getList, getOne, merge, remove } from './route-kinds.ts';
import type { Route } from './route.ts';

const needsCaller = true;
const spec = 'contract §4';

/** The routes of channels and messages. */
export const channelRoutes: readonly Route[] = [
  getList({ path: '/channels', operation: 'ListChannels', resource: CHANNEL, summary: 'Lists channels', needsCaller, spec }),
  getOne({ path: '/channels/{id}', operation: 'GetChannel', resource: CHANNEL, summary: 'Returns a channel', needsCaller, spec }),
  getList({
    path: '/channels/{id}/messages',
    operation: 'ListMessagesOfChannel',
    resource: MESSAGE,
    summary: 'Lists the messages of a channel, newest first',
    needsCaller,
    spec,
  }),
  create({
    path: '/channels/{id}/messages',
    operation: 'CreateMessage',
    resource: MESSAGE,
    summary: 'Posts a message to a channel',
    needsCaller,
    input: 'CreateMessageInput',
    fromPath: { channelId: 'id' },
    location: ({ id }) => `/messages/${String(id)}`,
    spec,
  }),
  getOne({ path: '/messages/{id}', operation: 'GetMessage', resource: MESSAGE, summary: 'Returns a message', needsCaller, spec }),
  merge({
    path: '/messages/{id}',
    operation: 'UpdateMessage',
    resource: MESSAGE,
    summary: 'Updates a message',
    needsCaller,
    input: 'UpdateMessageInput',
    spec,
  }),
  remove({ path: '/messages/{id}', operation: 'DeleteMessage', resource: MESSAGE, summary: 'Deletes a message', needsCaller, spec }),
];
