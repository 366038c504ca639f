/** Parses a message of graphql-transport-ws. */
import { type Message, parseMessage } from 'graphql-ws/client';
import { parseJson } from '../../request/json.ts';

/** Returns undefined for what is not a message of the protocol. */
export function parseClientMessage(data: Buffer, isBinary: boolean): Message | undefined {
  if (isBinary) return undefined;
  try {
    return parseMessage(parseJson(data.toString()));
  } catch {
    return undefined;
  }
}
