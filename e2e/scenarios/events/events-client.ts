/** A client of `GET /v1/events` that behaves as a browser does: it connects again with `Last-Event-ID` whenever its stream ends. */
import { type IncomingMessage, request } from 'node:http';

/** An event as it arrived, with the position that it was sent with. */
export interface ReceivedEvent {
  readonly position: string;
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface EventsClient {
  /** All events in the order of their arrival, over all connections. */
  readonly events: readonly ReceivedEvent[];
  /** The streams that have begun so far. */
  readonly connections: number;
  /** Resolves when the first stream has begun. */
  readonly opened: Promise<void>;
  /** Stops reading, while the connection stays open. */
  pause(): void;
  /** Reads on. */
  resume(): void;
  close(): void;
}

export interface EventsClientOptions {
  /** The address with its query. */
  readonly url: string;
  readonly token: string;
}

const RETRY_MS = 50;

/** Connects, and reads until it is closed. */
export function readEvents({ url, token }: EventsClientOptions): EventsClient {
  const events: ReceivedEvent[] = [];
  const state = { connections: 0, last: '', isClosed: false, isPaused: false };
  let current: IncomingMessage | undefined;
  let abort: () => void = () => undefined;
  let onOpen: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (onOpen = resolve));
  const onBlock = (block: string) => {
    const { position, event } = parse(block);
    if (position !== undefined) state.last = position;
    if (event) events.push({ ...event, position: state.last });
  };

  const connect = () => {
    if (state.isClosed) return;
    const again = () => {
      current = undefined;
      setTimeout(connect, RETRY_MS);
    };
    const headers = {
      accept: 'text/event-stream',
      authorization: `Bearer ${token}`,
      ...(state.last !== '' && { 'last-event-id': state.last }),
    };
    const sent = request(url, { headers, agent: false });
    abort = () => sent.destroy();
    sent.once('error', again);
    sent.once('response', (response) => {
      sent.off('error', again).on('error', () => undefined);
      response.once('close', again).on('error', () => undefined);
      if (response.statusCode !== 200) return void response.resume();
      state.connections++;
      current = response;
      readBlocks(response, onBlock);
      if (state.isPaused) response.pause();
      onOpen();
    });
    sent.end();
  };
  connect();
  return {
    events,
    opened,
    get connections() {
      return state.connections;
    },
    pause() {
      state.isPaused = true;
      current?.pause();
    },
    resume() {
      state.isPaused = false;
      current?.resume();
    },
    close() {
      state.isClosed = true;
      abort();
    },
  };
}

/** Calls back for each complete block of the stream. */
function readBlocks(response: IncomingMessage, onBlock: (block: string) => void): void {
  let rest = '';
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) onBlock(block);
  });
}

function parse(block: string): { position: string | undefined; event: Omit<ReceivedEvent, 'position'> | undefined } {
  const [position, data] = [/^id: (.*)$/m.exec(block)?.[1], /^data: (.*)$/m.exec(block)?.[1]];
  const isEvent = data !== undefined && !/^event: /m.test(block);
  return { position, event: isEvent ? (JSON.parse(data) as Omit<ReceivedEvent, 'position'>) : undefined };
}
