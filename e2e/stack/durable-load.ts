/** Clients that write posts and send each write again, with the same Idempotency-Key, until it is acknowledged. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { request, until } from './clients/client.ts';
import type { Account, Stack } from './stack.ts';

export interface DurableLoad {
  /** The ids of acknowledged posts by their titles. */
  readonly acknowledged: ReadonlyMap<string, string>;
  /** What was answered, and how often: a status and the code of its error; the cause, when there was no response. */
  readonly answers: Readonly<Record<string, number>>;
  /** Resolves when so many more writes are acknowledged. */
  more(count: number): Promise<void>;
  /** Begins no further write, and resolves when all that were begun are acknowledged. */
  stop(): Promise<void>;
}

export interface DurableLoadOptions {
  /** The address of bridges. */
  readonly url: string;
  readonly author: Account;
  readonly clients: number;
}

/** How long a client waits before it sends a write again. */
const RETRY_MS = 50;

/** Starts the clients, each with one write at a time. */
export function startDurableLoad({ url, author, clients }: DurableLoadOptions): DurableLoad {
  const acknowledged = new Map<string, string>();
  const answers: Record<string, number> = {};
  let isOver = false;
  const send = async (title: string, key: string) => {
    const reply = await request(`${url}/v1/posts`, {
      method: 'POST',
      body: { title, body: 'Nothing is lost' },
      token: author.token,
      headers: { 'idempotency-key': key },
    }).catch((error: unknown) => ({ status: 0, body: undefined, text: String((error as Error).cause ?? error) }));
    const { error, id } = (reply.body ?? {}) as { error?: { code: string }; id?: string };
    const answer = [reply.status, reply.status === 0 ? reply.text : (error?.code ?? '')].join(' ').trim();
    answers[answer] = (answers[answer] ?? 0) + 1;
    return reply.status === 201 ? id : undefined;
  };
  const run = async (client: number) => {
    for (let count = 0; !isOver; count++) {
      const title = `Write ${String(count)} of ${String(client)}`;
      const key = randomUUID();
      let id = await send(title, key);
      while (id === undefined) {
        await delay(RETRY_MS);
        id = await send(title, key);
      }
      acknowledged.set(title, id);
    }
  };
  const running = Array.from({ length: clients }, (_, client) => run(client));
  return {
    acknowledged,
    answers,
    more(count) {
      const wanted = acknowledged.size + count;
      return until(() => Promise.resolve(acknowledged.size >= wanted));
    },
    async stop() {
      isOver = true;
      await Promise.all(running);
    },
  };
}

/** Compares a stopped load with the database: each write is there once, with the id that was acknowledged. */
export async function expectEachOnce({ acknowledged }: DurableLoad, { stack, author }: { stack: Stack; author: Account }): Promise<void> {
  const rows = await stack.sql<{ id: string; title: string }>(
    'content',
    `SELECT id, title FROM posts WHERE "authorId" = $1 AND title LIKE 'Write %'`,
    [author.id],
  );
  expect(rows).toHaveLength(acknowledged.size);
  expect(new Map(rows.map(({ title, id }) => [title, id]))).toEqual(acknowledged);
}
