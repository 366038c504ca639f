/** A plain HTTP client for scenarios: returns status, headers, text and parsed body of a response. */

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed JSON; undefined without a body. */
  readonly body: unknown;
}

export interface RequestOptions {
  readonly method: string;
  /** Sent as JSON; a string is sent unchanged. */
  readonly body?: unknown;
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function request(url: string, { method, body, token, headers = {} }: RequestOptions): Promise<Reply> {
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  // A range of a JSON text (206) is not JSON.
  const isJson = text !== '' && response.status !== 206 && (response.headers.get('content-type') ?? '').includes('json');
  return { status: response.status, headers: response.headers, text, body: isJson ? (JSON.parse(text) as unknown) : undefined };
}

/**
 * After `EAGER_MS` there is a pause between two checks, which takes a part of the time that has passed: they would take the processor from the
 * processes that they wait for.
 */
const EAGER_MS = 20;
const MIN_PAUSE_MS = 5;
const MAX_PAUSE_MS = 50;
const PAUSE_PART = 0.1;
/** A machine that does much else needs tens of seconds for what takes one on a quiet machine. */
const TIMEOUT_MS = 45_000;

/** Checks again and again until `check` resolves with true. Rejects after 45 s. A check that throws counts as false. */
export async function until(check: () => Promise<boolean>): Promise<void> {
  const startedAt = Date.now();
  while (!(await check().catch(() => false))) {
    const waitedMs = Date.now() - startedAt;
    if (waitedMs > TIMEOUT_MS) throw new Error(`The condition was not met within ${String(TIMEOUT_MS / 1000)} s`);
    const pauseMs = Math.min(Math.max(waitedMs * PAUSE_PART, MIN_PAUSE_MS), MAX_PAUSE_MS);
    await new Promise((resolve) => (waitedMs < EAGER_MS ? setImmediate(resolve) : setTimeout(resolve, pauseMs)));
  }
}

/** Waits until the log of a process contains `text`. A line arrives through a pipe, so it can be later than the response that it is about. */
export const untilLogged = ({ lines }: { readonly lines: readonly string[] }, text: string): Promise<void> =>
  until(() => Promise.resolve(lines.some((line) => line.includes(text))));

/** Returns the sum of a metric over all of its labels. */
export async function sumMetric(url: string, name: string): Promise<number> {
  const { text } = await request(`${url}/metrics`, { method: 'GET' });
  const lines = text.split('\n').filter((each) => each.startsWith(`${name}{`));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

/** Returns the value of a metric, named with its labels as in the Prometheus text; NaN when it is absent. */
export async function readMetric(url: string, name: string): Promise<number> {
  const { text } = await request(`${url}/metrics`, { method: 'GET' });
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? NaN);
}
