/** Hands requests to their handler when the admission says that it is their turn: those with a body once the whole of it is there. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import { type Admission, Turn } from './admission.ts';
import type { ClientIds } from './client-id.ts';

export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

export interface EntranceOptions {
  readonly admission: Admission;
  readonly clients: ClientIds;
  readonly handle: Handle;
  /** Answers a request that may not even wait. */
  readonly refuse: Handle;
}

const TURN = Symbol('turn');

interface Admitted {
  [TURN]?: Turn;
}

/** Says that a response goes on without being worked on, as an event stream does: it no longer counts as in hand. */
export function releaseSlot(response: ServerResponse): void {
  (response as Admitted)[TURN]?.end();
}

/** Returns a handler that lets requests in by the admission. A request is in hand until its response is sent; {@link Turn.abandon} says how long if its client goes. */
export function createEntrance({ admission, clients, handle, refuse }: EntranceOptions): Handle {
  return (request, response) => {
    const client = clients.identify(request);
    if (!admission.isShared(client)) {
      handle(request, response);
      return;
    }
    if (hasBody(request)) {
      let isOver = false;
      let onClose: () => void = () => {
        isOver = true;
      };
      response.once('close', () => {
        onClose();
      });
      // A body that arrives slowly, or never, must not have its turn meanwhile. Its handler reads it, and is told of its end when it has.
      holdEnd(request, (bytes, proceed) => {
        if (isOver) {
          proceed();
          return;
        }
        const turn = new Turn(admission, { client, bytes });
        (response as Admitted)[TURN] = turn;
        onClose = () => {
          leave(response, turn);
          // Whoever reads the body learns that it is over.
          if (!turn.hasBegun) proceed();
        };
        if (!turn.take(proceed)) response.destroy();
      });
      handle(request, response);
      return;
    }
    const turn = new Turn(admission, { client, bytes: 0 });
    (response as Admitted)[TURN] = turn;
    response.once('close', () => {
      leave(response, turn);
    });
    const isTaken = turn.take(() => {
      handle(request, response);
    });
    if (!isTaken) refuse(request, response);
  };
}

function leave(response: ServerResponse, turn: Turn): void {
  if (response.writableFinished) turn.end();
  else turn.abandon();
}

function hasBody(request: IncomingMessage): boolean {
  if (request.httpVersionMajor === 2) return !(request as unknown as { readonly stream: ServerHttp2Stream }).stream.endAfterHeaders;
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  return coding !== undefined || (length !== undefined && length !== '0');
}

/** Calls back with the size of the body at its end, of which readers learn when `proceed` is called. */
function holdEnd(request: IncomingMessage, onEnd: (bytes: number, proceed: () => void) => void): void {
  let bytes = 0;
  const push = request.push.bind(request);
  request.push = (chunk: Buffer | null, encoding) => {
    if (chunk !== null) {
      bytes += chunk.length;
      return push(chunk, encoding);
    }
    onEnd(bytes, () => {
      push(null);
    });
    return false;
  };
}
