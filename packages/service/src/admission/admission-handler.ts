/** Passes requests to their handler when the admission admits them: those with a body after the whole body has arrived. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Admission } from './admission.ts';
import type { ClientIds } from '../clients/client-id.ts';
import { Response as Http2Response } from '../http2/http2-messages.ts';
import { Turn } from './turn.ts';

/** Handles a request. */
export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** The admission, and what handles admitted requests. */
export interface AdmissionHandlerOptions {
  readonly admission: Admission;
  readonly clients: ClientIds;
  readonly handle: Handle;
  /** Answers a request that is not admitted because too many of its client are waiting. */
  readonly refuse: Handle;
}

const TURN = Symbol('turn');
const IS_ABANDONED = Symbol('is abandoned');
/** A response costs time beyond that of its handler's first step, the more the larger it is. */
const BYTES_PER_MS = 100_000;

interface Admitted {
  [TURN]?: Turn;
  /** Set when the work for the request goes on behind its response. */
  [IS_ABANDONED]?: true;
}

/** Ends the count of a request as in flight before its response ends: an event stream goes on without work of the process. */
export function releaseSlot(response: ServerResponse): void {
  (response as Admitted)[TURN]?.end();
}

/** Has a request count as in flight as {@link Turn.abandon} describes, though its response is sent: its client has given up what it asked for. */
export function abandonSlot(response: ServerResponse): void {
  (response as Admitted)[IS_ABANDONED] = true;
}

/**
 * Returns a handler that admits requests to `handle`. A request is in flight until its response is sent, or as {@link Turn.abandon} describes
 * when the client disconnects.
 */
export function createAdmissionHandler({ admission, clients, handle, refuse }: AdmissionHandlerOptions): Handle {
  return (request, response) => {
    const client = clients.identify(request);
    if (!admission.isShared(client)) {
      handle(request, response);
      return;
    }
    chargeBytes(request, response, (milliseconds) => {
      admission.charge(client, milliseconds);
    });
    if (hasBody(request)) {
      let isOver = false;
      let onClose: () => void = () => {
        isOver = true;
      };
      response.once('close', () => {
        onClose();
      });
      // A slow body must not take a place while it arrives. The handler reads it at once, and sees its end only when the request is admitted.
      holdEnd(request, (bytes, proceed) => {
        if (isOver) {
          proceed();
          return;
        }
        const turn = new Turn(admission, { client, bytes });
        (response as Admitted)[TURN] = turn;
        onClose = () => {
          leave(response, turn);
          // The reader of the body must see its end.
          if (!turn.hasBegun) proceed();
        };
        measureEnd(request, { admission, client });
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
  if (response.writableFinished && !(response as Admitted)[IS_ABANDONED]) turn.end();
  else turn.abandon();
}

type Charge = (milliseconds: number) => void;

/** Charges the time in which the end of the body is handled, and in which promises go on that wait for no I/O: a subgraph parses a document there. */
function measureEnd(request: IncomingMessage, { admission, client }: { admission: Admission; client: string }): void {
  let startedAt = 0;
  request.prependOnceListener('end', () => {
    startedAt = admission.now();
  });
  request.once('end', () => {
    // What a microtask puts off to the next tick runs when no microtask is left.
    queueMicrotask(() => {
      process.nextTick(() => {
        admission.charge(client, admission.now() - startedAt);
      });
    });
  });
}

/** Charges for the size of a response when it is complete, whether or not the client reads it. */
function chargeBytes({ socket, httpVersionMajor }: IncomingMessage, response: ServerResponse, charge: Charge): void {
  const before = httpVersionMajor === 1 ? socket.bytesWritten : 0;
  response.once('prefinish', () => {
    const bytes = response instanceof Http2Response ? response.size : socket.bytesWritten - before;
    charge(bytes / BYTES_PER_MS);
  });
}

function hasBody(request: IncomingMessage): boolean {
  if (request.httpVersionMajor === 2) return !(request as unknown as { readonly stream: ServerHttp2Stream }).stream.endAfterHeaders;
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  return coding !== undefined || (length !== undefined && length !== '0');
}

/** Calls back with the size of the body at its end. Readers see the end when `proceed` is called. */
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
