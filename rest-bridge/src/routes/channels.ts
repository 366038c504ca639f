/** Rows of channels and the messages in them. */
import { CHANNEL, MESSAGE } from '../reply/resources.ts';
import { create, getList, getOne, merge, remove } from './kinds.ts';
import type { Row } from './row.ts';

const needsCaller = true;
const spec = 'contract §4';

export const channelRows: readonly Row[] = [
  getList({ path: '/channels', operation: 'ListChannels', resource: CHANNEL, summary: 'Lists channels', needsCaller, spec }),
  getOne({ path: '/channels/{id}', operation: 'GetChannel', resource: CHANNEL, summary: 'Shows a channel', needsCaller, spec }),
  getList({
    path: '/channels/{id}/messages',
    operation: 'ListMessagesOfChannel',
    resource: MESSAGE,
    summary: 'Lists what was said in a channel, the newest first',
    needsCaller,
    spec,
  }),
  create({
    path: '/channels/{id}/messages',
    operation: 'CreateMessage',
    resource: MESSAGE,
    summary: 'Says something in a channel',
    needsCaller,
    input: 'CreateMessageInput',
    fromPath: { channelId: 'id' },
    location: ({ id }) => `/messages/${String(id)}`,
    spec,
  }),
  getOne({ path: '/messages/{id}', operation: 'GetMessage', resource: MESSAGE, summary: 'Shows a message', needsCaller, spec }),
  merge({
    path: '/messages/{id}',
    operation: 'UpdateMessage',
    resource: MESSAGE,
    summary: 'Changes a message',
    needsCaller,
    input: 'UpdateMessageInput',
    spec,
  }),
  remove({ path: '/messages/{id}', operation: 'DeleteMessage', resource: MESSAGE, summary: 'Deletes a message', needsCaller, spec }),
];
