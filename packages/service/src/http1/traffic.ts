/** Watches all transfers of a server: ends those that are too slow, and bounds the bytes that all of them hold in memory. */
import { runPaced } from '../process/paced.ts';
import type { TrafficLimits } from '../settings.ts';

/** A request and its response, the successive requests of one connection, or an upgraded connection. */
export interface Transfer {
  /** Returns the id of the client that receives the response; an empty string where it is not known. */
  client(): string;
  /** Grows with each request of the transfer, so that the rate of each is measured alone; 0 where there is only one. */
  readonly exchange: number;
  /** Returns whether the transfer has ended. */
  isOver(): boolean;
  /** Returns whether a part of the body is missing and the server reads it. */
  isReceiving(): boolean;
  /** Returns the received bytes of the body. */
  receivedBytes(): number;
  /** Returns whether the body is passed on while it arrives, so that none of it is in memory. */
  isStreamed(): boolean;
  /** Returns by which factor the time of grace is longer; 1 for a client of this process alone. */
  patience(): number;
  /** Returns for how many milliseconds the request has been received. */
  receivingMs(): number;
  /** Returns the bytes that the kernel has taken. Only differences count: the count can begin anywhere. */
  sentBytes(): number;
  /** Returns the bytes of the response that are still to be sent. */
  waitingBytes(): number;
  /** Refuses a request that arrives too slowly (RFC 9110 §15.5.9). */
  refuse(): void;
  /** Ends the transfer; unsent bytes are lost. */
  cut(): void;
  /** Called when it {@link isOver}: frees what it still holds. */
  readonly release?: () => void;
}

/** Why a connection, request or stream was ended: the label `cause` of a metric. */
export type CutCause =
  | 'slow body'
  | 'slow reader'
  | 'too many bytes received'
  | 'too many bytes to send'
  | 'too many frames'
  | 'too many requests at once'
  | 'too many requests of one client'
  | 'too many connections'
  | 'too many connections of one address';

/** Watches transfers. */
export interface Traffic {
  /** Watches the transfer until it ends. */
  add(transfer: Transfer): void;
  /** Counts a connection that another part of the server ended. */
  count(cause: CutCause): void;
  /** Ends the watch. */
  close(): void;
}

type Limits = Pick<
  TrafficLimits,
  | 'requestTimeoutMs'
  | 'uploadTimeoutMs'
  | 'writeTimeoutMs'
  | 'minBodyBytesPerSecond'
  | 'bodyGraceMs'
  | 'maxReceivingBytes'
  | 'maxSendingBytes'
>;

/** The limits, and what is called for each transfer that is cut. */
export interface TrafficOptions extends Limits {
  readonly onCut: (cause: CutCause) => void;
}

const SWEEP_MS = 250;

/** What is known of one direction of a transfer. */
interface Progress {
  readonly transfer: Transfer;
  exchange: number;
  /** When it began to receive, and to wait; undefined while it does neither. */
  receivingSince: number | undefined;
  sendingSince: number | undefined;
  /** The bytes at the beginning, and when they were looked at last. */
  receivedBefore: number;
  windowSince: number;
  sentAtStart: number;
  sentBefore: number;
  movedAt: number;
  /** Bytes in memory. */
  held: number;
}

/** Starts a watch that measures all transfers several times a second. */
export function createTraffic(options: TrafficOptions): Traffic {
  const { writeTimeoutMs, bodyGraceMs, onCut } = options;
  const all = new Set<Progress>();
  const end = (progress: Progress, cause: CutCause) => {
    if (!all.delete(progress)) return;
    onCut(cause);
    const { transfer } = progress;
    runPaced(() => {
      if (cause === 'slow body' || cause === 'too many bytes received') transfer.refuse();
      else transfer.cut();
    });
  };
  const sweep = () => {
    const now = performance.now();
    const receiving: Progress[] = [];
    const sending: Progress[] = [];
    for (const progress of all) {
      const { transfer } = progress;
      if (progress.exchange !== transfer.exchange) {
        progress.exchange = transfer.exchange;
        progress.receivingSince = progress.sendingSince = undefined;
      }
      if (transfer.isOver()) {
        all.delete(progress);
        transfer.release?.();
      } else if (isReading(progress, now)) {
        if (!transfer.isStreamed()) receiving.push(progress);
        if (isTooLong(transfer, options) || isTooSlow(progress, now, options)) end(progress, 'slow body');
      } else if (isWriting(progress, now)) {
        sending.push(progress);
        if (now - progress.movedAt >= writeTimeoutMs) end(progress, 'slow reader');
      }
    }
    for (const progress of pickSlowest(receiving, { limit: options.maxReceivingBytes, now, patienceMs: bodyGraceMs }))
      end(progress, 'too many bytes received');
    for (const own of groupByClient(sending))
      for (const progress of pickSlowest(own, { limit: options.maxSendingBytes / 2, now, patienceMs: Infinity }))
        end(progress, 'too many bytes to send');
    for (const progress of pickSlowest(sending, { limit: options.maxSendingBytes, now, patienceMs: writeTimeoutMs / 2 }))
      end(progress, 'too many bytes to send');
  };
  const timer = setInterval(sweep, Math.min(SWEEP_MS, writeTimeoutMs / 4, bodyGraceMs / 4)).unref();
  return {
    add(transfer) {
      const nothing = { receivedBefore: 0, windowSince: 0, sentAtStart: 0, sentBefore: 0, movedAt: 0, held: 0 };
      all.add({ transfer, exchange: transfer.exchange, receivingSince: undefined, sendingSince: undefined, ...nothing });
    },
    count: onCut,
    close() {
      clearInterval(timer);
    },
  };
}

/** Notes how much of a body has arrived. Returns false when the server does not expect one. */
function isReading(progress: Progress, now: number): boolean {
  const { transfer } = progress;
  if (!transfer.isReceiving()) {
    progress.receivingSince = undefined;
    return false;
  }
  progress.held = transfer.receivedBytes();
  if (progress.receivingSince === undefined) {
    progress.receivingSince = progress.windowSince = now;
    progress.receivedBefore = progress.held;
  }
  return true;
}

/** Returns whether receiving the whole request has taken too long. */
function isTooLong(transfer: Transfer, { requestTimeoutMs, uploadTimeoutMs, bodyGraceMs }: Limits): boolean {
  const further = (transfer.patience() - 1) * bodyGraceMs;
  return transfer.receivingMs() >= (transfer.isStreamed() ? uploadTimeoutMs : requestTimeoutMs) + further;
}

/** Returns whether too few bytes arrived within the time of grace, once it has passed. Otherwise begins the next one. */
function isTooSlow(progress: Progress, now: number, { minBodyBytesPerSecond, bodyGraceMs }: Limits): boolean {
  const elapsed = now - progress.windowSince;
  if (elapsed < bodyGraceMs * progress.transfer.patience()) return false;
  const received = progress.held;
  if (received - progress.receivedBefore < (minBodyBytesPerSecond * elapsed) / 1000) return true;
  progress.windowSince = now;
  progress.receivedBefore = received;
  return false;
}

/** Notes how much waits to be sent, and when bytes were sent last. Returns false when nothing waits. */
function isWriting(progress: Progress, now: number): boolean {
  const { transfer } = progress;
  progress.held = transfer.waitingBytes();
  if (progress.held === 0) {
    progress.sendingSince = undefined;
    return false;
  }
  const sent = transfer.sentBytes();
  if (progress.sendingSince === undefined) {
    progress.sendingSince = progress.movedAt = now;
    progress.sentAtStart = progress.sentBefore = sent;
  } else if (sent !== progress.sentBefore) {
    progress.sentBefore = sent;
    progress.movedAt = now;
  }
  return true;
}

/** Returns the transfers of each known client: a single client must not use up the memory that all others need. */
function groupByClient(transfers: readonly Progress[]): Iterable<readonly Progress[]> {
  const groups = new Map<string, Progress[]>();
  for (const progress of transfers) {
    const client = progress.transfer.client();
    if (client === '') continue;
    const own = groups.get(client);
    if (own) own.push(progress);
    else groups.set(client, [progress]);
  }
  return groups.values();
}

/**
 * Returns the transfers to end, the slowest first, so that the others hold at most `limit` bytes, and those of them that take longer than
 * `patienceMs` hold at most half of that: a few slow clients must not use up the memory that all others need.
 */
function pickSlowest(
  transfers: readonly Progress[],
  { limit, now, patienceMs }: { limit: number; now: number; patienceMs: number },
): Progress[] {
  let held = transfers.reduce((sum, progress) => sum + progress.held, 0);
  if (held <= limit / 2) return [];
  const picked: Progress[] = [];
  for (const progress of transfers.toSorted((a, b) => rateOf(a, now) - rateOf(b, now))) {
    const age = now - sinceOf(progress, now);
    if (held <= limit / 2) break;
    if (held <= limit && age < patienceMs) continue;
    picked.push(progress);
    held -= progress.held;
  }
  return picked;
}

function sinceOf({ receivingSince, sendingSince }: Progress, now: number): number {
  return receivingSince ?? sendingSince ?? now;
}

/** Returns the bytes per millisecond since the transfer began to receive or to send. */
function rateOf(progress: Progress, now: number): number {
  const moved = progress.receivingSince === undefined ? progress.sentBefore - progress.sentAtStart : progress.held;
  return moved / Math.max(1, now - sinceOf(progress, now));
}
