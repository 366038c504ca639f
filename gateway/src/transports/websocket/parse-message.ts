/** Parses a message of graphql-transport-ws. */
import { type Message, MessageType, parseMessage } from 'graphql-ws/client';
import { isObject, parseJson } from '../../request/json.ts';

/** Returns undefined for what is not a message of the protocol. */
export function parseClientMessage(data: Buffer, isBinary: boolean): Message | undefined {
  if (isBinary) return undefined;
  try {
    return parseMessage(addQuery(parseJson(data.toString())));
  } catch {
    return undefined;
  }
}

/** The protocol requires `query`, which an operation with the id of a document does not have: adds an empty one, which stands for none. */
function addQuery(message: unknown): unknown {
  if (!isObject(message) || message['type'] !== MessageType.Subscribe) return message;
  const { payload } = message;
  if (!isObject(payload) || typeof payload['documentId'] !== 'string' || Object.hasOwn(payload, 'query')) return message;
  return { ...message, payload: { ...payload, query: '' } };
}
