/** A client of server-sent events that shows every event, and of multipart responses that shows every part. */
import { type IncomingMessage, request } from 'node:http';

export interface StreamRequest {
  readonly query?: string;
  readonly variables?: object;
  readonly method?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ServerEvent {
  readonly event: string;
  /** Parsed; undefined for an event without data. */
  readonly data: unknown;
}

export interface OpenResponse {
  readonly response: IncomingMessage;
  readonly events: readonly ServerEvent[];
  /** All that came, as it came. */
  readonly text: string;
  readonly isOver: boolean;
  /** Goes away without a word. */
  close(): void;
}

/** Resolves with the head; what comes after it fills `events` and `text`. */
export function openEventStream(
  url: string,
  { query, variables, method = query === undefined ? 'GET' : 'POST', accept = 'text/event-stream', headers = {} }: StreamRequest,
): Promise<OpenResponse> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method,
      headers: { accept, ...(query !== undefined && { 'content-type': 'application/json' }), ...headers },
    });
    sent.once('error', reject);
    sent.once('response', (response) => {
      const state = { text: '', isOver: false };
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (state.text += chunk));
      response.on('error', () => undefined);
      response.on('close', () => (state.isOver = true));
      resolve({
        response,
        get text() {
          return state.text;
        },
        get events() {
          return readEvents(state.text);
        },
        get isOver() {
          return state.isOver;
        },
        close: () => sent.destroy(),
      });
    });
    sent.end(query === undefined ? undefined : JSON.stringify({ query, variables }));
  });
}

/** Comments are left out, and so is what is not whole yet. */
function readEvents(text: string): ServerEvent[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .flatMap((block) => {
      const fields = block.split('\n').filter((line) => !line.startsWith(':'));
      const valueOf = (name: string) =>
        fields
          .find((line) => line.startsWith(`${name}:`))
          ?.slice(name.length + 1)
          .trim();
      const event = valueOf('event');
      const data = valueOf('data');
      return event === undefined ? [] : [{ event, data: data ? (JSON.parse(data) as unknown) : undefined }];
    });
}
