/** A client of `GET /v1/events` that connects again when its connection ends, and resumes behind the last event (spec §6, contract §4). */
import { setTimeout as delay } from 'node:timers/promises';
import { until } from './client.ts';
import { type OpenResponse, openEventStream } from './event-stream.ts';

export interface EventFollower {
  /** The subjects of the events, in the order in which they came, over all connections. */
  readonly subjects: readonly string[];
  /** How often it has connected. */
  readonly connections: number;
  /** Resolves when an event of each of these subjects has come. Rejects after 45 s, and says how many are missing and why. */
  untilSeen(subjects: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

export interface EventFollowerOptions {
  /** The address of bridges. */
  readonly url: string;
  readonly token: string;
  /** The type of the events. */
  readonly type: string;
}

const POLL_MS = 20;

/** Connects, and resolves when the first response has begun. */
export async function followEvents({ url, token, type }: EventFollowerOptions): Promise<EventFollower> {
  const subjects: string[] = [];
  let last: string | undefined;
  let connections = 0;
  let refusal = 'none';
  let isOver = false;
  let open: OpenResponse;
  let read = 0;
  const connect = async () => {
    const headers = { authorization: `Bearer ${token}`, ...(last !== undefined && { 'last-event-id': last }) };
    open = await openEventStream(`${url}/v1/events?type=${type}`, { headers });
    read = 0;
    if (open.response.statusCode !== 200) throw new Error(`The stream was answered ${String(open.response.statusCode)}`);
    connections++;
  };
  /** Takes what came since the call before. */
  const take = () => {
    const end = open.text.lastIndexOf('\n\n');
    if (end < read) return;
    for (const block of open.text.slice(read, end).split('\n\n')) {
      const [id, data] = [/^id: (.*)$/m.exec(block)?.[1], /^data: (.*)$/m.exec(block)?.[1]];
      if (id !== undefined) last = id;
      if (data !== undefined && !/^event: /m.test(block)) subjects.push((JSON.parse(data) as { subject: string }).subject);
    }
    read = end + 2;
  };
  const run = async () => {
    while (!isOver) {
      await delay(POLL_MS);
      const hasEnded = open.isOver;
      take();
      if (!hasEnded) continue;
      await connect().catch((error: unknown) => {
        refusal = String(error);
      });
    }
    open.close();
  };
  await connect();
  const running = run();
  return {
    subjects,
    get connections() {
      return connections;
    },
    async untilSeen(wanted) {
      const findMissing = () => wanted.filter((subject) => !subjects.includes(subject)).length;
      await until(() => Promise.resolve(findMissing() === 0)).catch((cause: unknown) => {
        const reason = `${String(connections)} connections, the last after ${String(last)}; last refusal: ${refusal}`;
        throw new Error(`${String(findMissing())} of ${String(wanted.length)} events have not come. ${reason}`, { cause });
      });
    },
    async stop() {
      isOver = true;
      await running;
    },
  };
}
