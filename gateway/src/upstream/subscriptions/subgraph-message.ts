/** Reads what a subgraph sends over a WebSocket (graphql-transport-ws). No I/O. */
import { type Message, MessageType, validateMessage } from 'graphql-ws/client';
import type { SubgraphError } from '../../program/result.ts';
import { isObject } from '../../request/json.ts';

/** A message about one subscription that is not as the protocol says. It ends this subscription, and no other of the connection. */
interface InvalidMessage {
  readonly type: 'invalid';
  readonly id: string;
}

/** The reasons of a refusal, which may be anything. */
interface ErrorMessage {
  readonly type: MessageType.Error;
  readonly id: string;
  readonly payload: readonly SubgraphError[];
}

export type SubgraphMessage = Exclude<Message, { readonly type: MessageType.Error }> | ErrorMessage | InvalidMessage;

/** `id` before `payload`, where servers write it. Behind it, an id may be one of the data. */
const LEADING_ID = /^\s*\{\s*(?:"type"\s*:\s*"next"\s*,\s*)?"id"\s*:\s*"([^"\\]*)"/;

/** Returns the message. Throws an Error for what is none and names no subscription. */
export function readSubgraphMessage(text: string): SubgraphMessage {
  const value: unknown = JSON.parse(text);
  const { id, type, payload } = isObject(value) ? value : {};
  if (typeof id === 'string' && type === MessageType.Error) return { type, id, payload: toErrorList(payload) };
  try {
    return validateMessage(value);
  } catch (error) {
    if (typeof id === 'string') return { type: 'invalid', id };
    throw error;
  }
}

/** Returns the id of a message of which only the beginning is known; undefined where it is not there. */
export function findLeadingId(beginning: string): string | undefined {
  return LEADING_ID.exec(beginning)?.[1];
}

/** Returns the errors that a subgraph sent: at least one, also for what is no list. */
export function toErrorList(errors: unknown): readonly SubgraphError[] {
  const list: unknown[] = Array.isArray(errors) ? errors : [errors];
  return (list.length > 0 ? list : [undefined]) as readonly SubgraphError[];
}
