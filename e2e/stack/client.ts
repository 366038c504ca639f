/** A plain HTTP client for scenarios: shows status, headers, text and parsed body of an answer. */

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed JSON; undefined for an answer without a body. */
  readonly body: unknown;
}

export interface RequestOptions {
  readonly method: string;
  /** Sent as JSON; a string goes out as it is. */
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
  // A part of a JSON text is none.
  const isJson = text !== '' && response.status !== 206 && (response.headers.get('content-type') ?? '').includes('json');
  return { status: response.status, headers: response.headers, text, body: isJson ? (JSON.parse(text) as unknown) : undefined };
}

/** Tries again until `check` gives true; for conditions that come by themselves. Throws after 20 s. */
export async function until(check: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await check().catch(() => false))) {
    if (Date.now() > deadline) throw new Error('The condition did not come about within 20 s');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The value of a metric, named with its labels as in the Prometheus text; NaN where there is none. */
export async function readMetric(url: string, name: string): Promise<number> {
  const { text } = await request(`${url}/metrics`, { method: 'GET' });
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? NaN);
}
