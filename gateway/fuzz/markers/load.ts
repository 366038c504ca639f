/** Sends marked operations to a gateway: many in flight, pipelined, in batches, aborted, or read slowly. */
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import { hash } from '../random.ts';
import { type Sent, type Verdict, createResponseCheck } from './check-response.ts';
import { createMarkers } from './marker.ts';
import { OPERATIONS, type MarkedOperation } from './world.ts';

export interface LoadReport {
  /** Requests whose responses were read to the end. */
  responses: number;
  /** Operations whose result is that of graphql-js, and those whose subgraphs failed. */
  equal: number;
  faults: number;
  /** Operations for which the subgraphs took too long. */
  late: number;
  /** Requests that their clients aborted. */
  aborted: number;
  /** Requests without a response. */
  lost: number;
  /** Responses with another status than 200. */
  readonly refused: Map<number, number>;
  readonly leaks: string[];
  readonly differences: string[];
}

export interface LoadOptions {
  readonly url: string;
  /** Clients that wait for each response before they send the next request. */
  readonly clients: number;
  readonly isOver: (responses: number) => boolean;
}

/** How a client behaves. */
type Style = 'ordinary' | 'pipelined' | 'batch' | 'aborting' | 'slow';

/** What the shares of the operations leave. */
const USUAL = OPERATIONS[0] as MarkedOperation;
const MAX_SHOWN = 10;
const BATCH = 3;
const PIPELINED = 4;
const MAX_ABORT_MS = 30;
const SLOW_READ_MS = 15;
const SHARES: readonly (readonly [Style | 'equal', number])[] = [
  ['batch', 0.06],
  ['aborting', 0.06],
  ['slow', 0.03],
  ['equal', 0.2],
  ['pipelined', 0.2],
];

/** Sends requests until `isOver`, and resolves when all have ended. */
export async function runLoad({ url, clients, isOver }: LoadOptions): Promise<LoadReport> {
  const report: LoadReport = {
    responses: 0,
    equal: 0,
    faults: 0,
    late: 0,
    aborted: 0,
    lost: 0,
    refused: new Map(),
    leaks: [],
    differences: [],
  };
  const options = { bodyTimeout: 60_000, headersTimeout: 60_000 };
  const pools: Record<Style, Pool> = {
    ordinary: new Pool(url, { connections: clients, ...options }),
    batch: new Pool(url, { connections: clients, ...options }),
    pipelined: new Pool(url, { connections: Math.ceil(clients / PIPELINED), pipelining: PIPELINED, ...options }),
    aborting: new Pool(url, { connections: clients, ...options }),
    slow: new Pool(url, { connections: clients, ...options }),
  };
  const client = new MarkedClient(pools, report);
  const work = async () => {
    while (!isOver(report.responses) && report.leaks.length < MAX_SHOWN && report.differences.length < MAX_SHOWN) await client.sendNext();
  };
  await Promise.all(Array.from({ length: clients }, work));
  await Promise.all(Object.values(pools).map((pool) => pool.close()));
  return report;
}

class MarkedClient {
  readonly #pools: Record<Style, Pool>;
  readonly #report: LoadReport;
  readonly #nextMarker = createMarkers();
  readonly #check = createResponseCheck();

  constructor(pools: Record<Style, Pool>, report: LoadReport) {
    this.#pools = pools;
    this.#report = report;
  }

  /** Sends one request and checks its response. */
  async sendNext(): Promise<void> {
    const first = this.#choose();
    const style = styleOf(first.marker);
    if (style === 'equal' && first.operation.name !== 'mutation') {
      await this.#sendEqual(first);
      return;
    }
    const sent = style === 'batch' ? this.#fillBatch(first) : [first];
    // A mutation in a pipeline would be sent again by undici when a request before it fails.
    const isAlone = style === 'equal' || (style === 'pipelined' && first.operation.name === 'mutation');
    const text = await this.#send(isAlone ? 'ordinary' : style, sent);
    if (text === undefined) return;
    this.#report.responses++;
    if (style !== 'batch') this.#note(this.#check(text, first));
    else {
      const parts = splitBatch(text);
      for (const [i, each] of sent.entries()) this.#note(this.#check(parts[i] ?? '', each));
    }
  }

  /** Sends a request several times at once: the gateway may execute it once for all of them. Some of these clients leave. */
  async #sendEqual(sent: Sent): Promise<void> {
    const styles: Style[] = ['aborting', 'slow', 'ordinary'];
    const texts = await Promise.all(styles.map((style) => this.#send(style, [sent])));
    for (const text of texts) {
      if (text === undefined) continue;
      this.#report.responses++;
      this.#note(this.#check(text, sent));
    }
  }

  /** A query that is in a batch twice may be executed once. */
  #fillBatch(first: Sent): Sent[] {
    const others = Array.from({ length: BATCH - 1 }, () => this.#choose());
    return first.operation.name === 'mutation' ? [first, ...others] : [first, ...others, first];
  }

  #choose(): Sent {
    const marker = this.#nextMarker();
    let left = hash(`operation ${marker}`);
    const operation = OPERATIONS.find(({ share }) => (left -= share) < 0) ?? USUAL;
    return { operation, marker };
  }

  /** Returns the response as text; undefined without one that has data. */
  async #send(style: Style, sent: readonly Sent[]): Promise<string | undefined> {
    const marker = sent[0]?.marker ?? '';
    const bodies = sent.map(({ operation: { query, variables }, marker: tag }) => ({ query, variables: { ...variables, tag } }));
    const abort = new AbortController();
    const abortLater = () => {
      abort.abort();
    };
    const timer = style === 'aborting' ? setTimeout(abortLater, hash(`abort ${marker}`) * MAX_ABORT_MS) : undefined;
    try {
      const { statusCode, body } = await this.#pools[style].request({
        method: 'POST',
        path: '/graphql',
        headers: { 'content-type': 'application/json', ...(hash(`cost ${marker}`) < 0.05 && { 'trestle-cost': '1' }) },
        body: JSON.stringify(style === 'batch' ? bodies : bodies[0]),
        idempotent: style === 'pipelined',
        signal: abort.signal,
      });
      const text = style === 'slow' ? await readSlowly(body) : await body.text();
      if (statusCode === 200) return text;
      this.#report.refused.set(statusCode, (this.#report.refused.get(statusCode) ?? 0) + 1);
      return undefined;
    } catch {
      if (style === 'aborting') this.#report.aborted++;
      else this.#report.lost++;
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  #note(verdict: Verdict): void {
    if (verdict === 'equal') this.#report.equal++;
    else if (verdict === 'faults') this.#report.faults++;
    else if (verdict === 'late') this.#report.late++;
    else if ('leak' in verdict) this.#report.leaks.push(verdict.leak);
    else this.#report.differences.push(verdict.difference);
  }
}

function styleOf(marker: string): Style | 'equal' {
  let left = hash(`style ${marker}`);
  return SHARES.find(([, share]) => (left -= share) < 0)?.[0] ?? 'ordinary';
}

async function readSlowly(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) {
    chunks.push(Buffer.from(chunk));
    await delay(SLOW_READ_MS);
  }
  return Buffer.concat(chunks).toString();
}

/** Returns the texts of the results in a batch; the whole text when it is no JSON. */
function splitBatch(text: string): string[] {
  try {
    return (JSON.parse(text) as unknown[]).map((each) => JSON.stringify(each));
  } catch {
    return [text];
  }
}
