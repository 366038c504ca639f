/**
 * Where the events of one subscription come from: an operation of one subgraph, asked for again when the connection is lost.
 *
 * A subgraph that can tell positions is asked for those by `extensions.resume`. It then begins with `{"data": null, "extensions": {"position": p}}` and
 * tells each event's own position, and now and then how far it has come without one, so that after a loss it can be asked for all that came `after`
 * the last one: nothing is missed, nothing comes twice. With `first` it completes after so many events, and is asked for more when those are done.
 * Of one that tells no positions nobody knows what was missed: the loss is the end of the stream, and is told (README, "Subscriptions").
 */
import type { SubgraphAnswer } from '../execute/execute.ts';
import { type SubgraphError, readError } from '../execute/execution-errors.ts';
import type { LivePayload, LiveSink, Loss } from '../upstream/subgraph-socket.ts';
import type { LiveUpstream } from '../upstream/subgraph-sockets.ts';
import { GONE_MESSAGE } from '../request/position.ts';

export interface SourceOptions {
  readonly live: LiveUpstream;
  readonly identity: readonly string[];
  readonly requestId: string;
  readonly payload: Omit<LivePayload, 'extensions'>;
  /** The position behind which to begin; without it the stream begins now. */
  readonly after?: string | undefined;
  /** So long it is tried again, from the loss on. */
  readonly reconnectMs: number;
  readonly now?: () => number;
  readonly random?: () => number;
}

export interface SourceSink {
  /** With the position of the event, if the subgraph tells any. */
  next(answer: SubgraphAnswer, position: string | undefined): void;
  /** The subgraph waits to be asked for more, by `resume`. */
  full(): void;
  /** Where the stream begins, or has come to without an event; what is known already is where it goes on. */
  reached(position: string, isKnown: boolean): void;
  complete(): void;
  /** The subgraph will not have it, or no longer. */
  refused(errors: readonly SubgraphError[]): void;
  /** Lost for good. */
  lost(loss: Loss): void;
}

export interface Source {
  close(): void;
  /** Has the subgraph tell nothing more for now. Gives false where that would lose events: of one that tells no positions. */
  pause(): boolean;
  /** Goes on behind the last event before `pause`. */
  resume(): void;
}

/** So many events of what was missed are asked for at a time: more than can be completed would be told for nothing. */
export const PAGE = 200;
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 2000;
/** Whoever goes on for so long is no longer looked for. */
const STEADY_MS = 5000;

/** A subgraph that goes down, or that has no database for a while, says so: it can be asked to go on later. */
function isTemporary(error: SubgraphError): boolean {
  const { extensions } = readError(error, '');
  return extensions['code'] === 'SERVICE_UNAVAILABLE';
}

/** Begins at once; tells `sink` in order, and nothing after the end or after `close`. */
export function openSource(options: SourceOptions, sink: SourceSink): Source {
  const { live, identity, requestId, payload, after, reconnectMs, now = () => performance.now(), random = Math.random } = options;
  let position = after;
  let hasPositions = false;
  let lostAt: number | undefined;
  /** When the subgraph has last said from where it goes on, if nothing came since. */
  let backAt: number | undefined;
  let tries = 0;
  /** Events since it was asked last. */
  let told = 0;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  let isPaused = false;
  let unsubscribe: () => void = () => undefined;

  const end = (tell: () => void) => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    tell();
  };
  const lose = (loss: Loss) => {
    // One that was back for a while is lost anew.
    if (lostAt === undefined || (backAt !== undefined && now() - backAt >= STEADY_MS)) {
      lostAt = now();
      tries = 0;
    }
    backAt = undefined;
    const isHopeless = position === undefined || loss.isUnauthorized || now() - lostAt >= reconnectMs;
    if (isHopeless) {
      end(() => {
        sink.lost(loss);
      });
      return;
    }
    // Full jitter, so that those who were lost together don't come back together.
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** tries++) * random();
    timer = setTimeout(connect, wait);
  };
  const receive: LiveSink['next'] = (answer) => {
    const reached = answer.extensions?.['position'];
    const isPosition = typeof reached === 'string';
    const isKnown = hasPositions && reached === position;
    if (isPosition) position = reached;
    hasPositions ||= isPosition;
    // A position without anything else is where the stream begins, or how far it has come in silence.
    if (isPosition && (answer.data === null || answer.data === undefined) && !answer.errors) {
      backAt ??= now();
      sink.reached(reached, isKnown);
      return;
    }
    if (after !== undefined && !hasPositions && answer.data !== undefined) {
      // It knows nothing of positions, hence not what was missed either.
      refuse([{ message: GONE_MESSAGE, extensions: { code: 'GONE' } }]);
      return;
    }
    // Without data it is no event: nothing was subscribed to.
    if (answer.data === undefined && answer.errors) refuse(answer.errors);
    else {
      lostAt = undefined;
      told++;
      sink.next(answer, isPosition ? reached : undefined);
    }
  };
  const refuse = (errors: readonly SubgraphError[]) => {
    if (position !== undefined && errors.every(isTemporary)) {
      unsubscribe();
      lose({ isUnauthorized: false, cause: new Error('The subgraph can not go on at the moment') });
      return;
    }
    end(() => {
      unsubscribe();
      sink.refused(errors);
    });
  };
  const connect = () => {
    const resume = position === undefined ? {} : { after: position, first: PAGE };
    const isPaged = position !== undefined;
    told = 0;
    unsubscribe = live.subscribe(
      { identity, requestId, payload: { ...payload, extensions: { resume } } },
      {
        next: (answer) => {
          if (!isOver && !isPaused) receive(answer);
        },
        complete: () => {
          if (isPaused) return;
          if (isPaged && told === PAGE) {
            isPaused = true;
            sink.full();
          } else
            end(() => {
              sink.complete();
            });
        },
        refused: (errors) => {
          if (!isPaused) refuse(errors);
        },
        lost: (loss) => {
          if (!isOver && !isPaused) lose(loss);
        },
      },
    );
  };
  connect();
  return {
    close() {
      end(() => {
        unsubscribe();
      });
    },
    pause() {
      if (!hasPositions) return false;
      isPaused = true;
      unsubscribe();
      return true;
    },
    resume() {
      if (!isPaused || isOver) return;
      isPaused = false;
      connect();
    },
  };
}
