/** What a connection is created with. Types only. */
import type { IncomingMessage } from 'node:http';
import type { Log } from '@trestle/log';
import type { MessageTurns } from '@trestle/service/process/message-turns';
import type { TransportMetrics } from '../../observability/subscription-metrics.ts';
import type { IdentifyOptions, Identity } from '../../request/caller.ts';
import type { SendBuffers } from '../delivery/send-buffers.ts';
import type { QueueLimits } from '../delivery/send-queue.ts';
import type { SocketOperation } from './socket-operation.ts';

export interface ConnectionLimits {
  /** The most operations at a time. */
  readonly maxOperations: number;
  /** The largest message, and the most bytes of the messages that open operations began with. */
  readonly maxMessageBytes: number;
  readonly initTimeoutMs: number;
  readonly queue: QueueLimits;
}

export interface ConnectionOptions extends ConnectionLimits, IdentifyOptions {
  /** When large messages are handled: those of all connections one after another. */
  readonly turns: MessageTurns;
  readonly buffers: SendBuffers;
  readonly metrics: TransportMetrics;
  readonly log: Log;
  /** Runs an operation; its result goes to the operation. */
  readonly run: (operation: SocketOperation, message: SubscribeMessage) => void;
  /** Called once, when the connection is closed. */
  readonly onClosed: () => void;
}

/** A `subscribe` message and its sender. */
export interface SubscribeMessage {
  readonly payload: Readonly<Record<string, unknown>>;
  readonly identity: Identity;
  readonly request: IncomingMessage;
}
