/** Clients that upload and publish videos while processes are killed, and note what was acknowledged. */
import { createHash, randomFillSync, randomInt, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Account } from '../../stack/stack.ts';
import { toMp4 } from '../publish-video/video-files.ts';

/** What was acknowledged to the clients. */
export interface Acknowledged {
  /** SHA-256 of each acknowledged video, by its path. */
  readonly videos: Map<string, string>;
  /** The job of each video whose publication was acknowledged, by the path of the video. */
  readonly jobs: Map<string, string>;
  /** Acknowledgements of any kind. */
  count: number;
  /** Kills that a resumable upload survived, with bytes that were acknowledged before. */
  resumed: number;
  /** What must never happen. */
  readonly violations: string[];
}

export interface CrashClientsOptions {
  /** Returns the address of the bridge that runs now. */
  readonly rest: () => string;
  readonly author: Account;
}

interface Exchange {
  /** 0 when there was no response. */
  readonly status: number;
  readonly headers: Headers;
  readonly body: { readonly id?: string; readonly jobId?: string };
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
}

const RETRY_MS = 20;
const HEAD_BYTES = 36;
const LOST: Exchange = { status: 0, headers: new Headers(), body: {} };

/** Returns an MP4 file with random frames, and its SHA-256. */
function createFile(maxFrameBytes: number): { readonly file: Buffer; readonly sha256: string } {
  const frames = randomInt(1000, maxFrameBytes);
  const file = toMp4(7, frames);
  randomFillSync(file, HEAD_BYTES, frames);
  return { file, sha256: createHash('sha256').update(file).digest('hex') };
}

/** Uploads and publishes until it is stopped. */
export class CrashClients {
  readonly acknowledged: Acknowledged = { videos: new Map(), jobs: new Map(), count: 0, resumed: 0, violations: [] };
  readonly #options: CrashClientsOptions;
  readonly #running: Promise<unknown>;
  #isOver = false;

  /** Starts two clients that send whole videos, of which one publishes each, and two that send them in pieces. */
  constructor(options: CrashClientsOptions) {
    this.#options = options;
    const repeat = async (work: () => Promise<unknown>) => {
      while (!this.#isOver) await work();
    };
    const works = [() => this.#uploadWhole(), () => this.#uploadAndPublish(), () => this.#uploadPieces(), () => this.#uploadPieces()];
    this.#running = Promise.all(works.map(repeat));
  }

  /** Begins nothing more, and resolves when everything that was begun is complete. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #uploadWhole(): Promise<string | undefined> {
    const { file, sha256 } = createFile(2_000_000);
    const sent = await this.#send({ method: 'POST', path: '/v1/videos?title=Whole', headers: { 'content-type': 'video/mp4' }, body: file });
    this.#expect(sent, 'the upload', [201]);
    if (sent.status !== 201) {
      await delay(RETRY_MS);
      return undefined;
    }
    return this.#acknowledge(`/v1/videos/${String(sent.body.id)}`, sha256);
  }

  async #uploadAndPublish(): Promise<void> {
    const path = await this.#uploadWhole();
    if (path === undefined) return;
    // 422 when an earlier request, whose response was lost, has published it.
    const published = await this.#repeat({ method: 'POST', path: `${path}/publish` }, [202, 422]);
    const { jobId } = published.body;
    if (jobId === undefined) return;
    this.acknowledged.jobs.set(path, jobId);
    this.acknowledged.count++;
  }

  async #uploadPieces(): Promise<void> {
    const { file, sha256 } = createFile(4_000_000);
    const created = await this.#repeat(
      {
        method: 'POST',
        path: '/v1/uploads',
        headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID() },
        body: JSON.stringify({ title: 'Pieces', size: file.length, sha256 }),
      },
      [201],
    );
    const path = `/v1/uploads/${String(created.body.id)}`;
    let offset = 0;
    let video: string | undefined;
    while (offset < file.length) {
      const piece = file.subarray(offset, offset + randomInt(200_000, 1_500_000));
      const headers = { 'content-type': 'application/offset+octet-stream', 'upload-offset': String(offset) };
      const sent = await this.#send({ method: 'PATCH', path, headers, body: piece });
      this.#expect(sent, 'a piece', [204, 409]);
      video = sent.headers.get('content-location') ?? video;
      const next = sent.status === 204 ? sent : await this.#repeat({ method: 'GET', path }, [200]);
      const stored = Number(next.headers.get('upload-offset'));
      if (stored < offset) this.acknowledged.violations.push(`${String(offset)} bytes were acknowledged, ${String(stored)} are stored`);
      if (sent.status === 204) this.acknowledged.count++;
      else if (offset > 0) this.acknowledged.resumed++;
      offset = stored;
    }
    // Without it, the last response was lost: the video exists, and its name is unknown.
    if (video !== undefined) this.#acknowledge(video, sha256);
  }

  #acknowledge(path: string, sha256: string): string {
    this.acknowledged.videos.set(path, sha256);
    this.acknowledged.count++;
    return path;
  }

  /** Sends a request until it is answered by one of the statuses. */
  async #repeat(request: Sent, statuses: readonly number[]): Promise<Exchange> {
    for (;;) {
      const sent = await this.#send(request);
      if (statuses.includes(sent.status)) return sent;
      this.#expect(sent, request.path, statuses);
      await delay(RETRY_MS);
    }
  }

  /** A killed process may cost a response, or make it 502 or 503; nothing else. */
  #expect({ status }: Exchange, what: string, statuses: readonly number[]): void {
    if (![0, 502, 503, ...statuses].includes(status)) this.acknowledged.violations.push(`${what} was answered ${String(status)}`);
  }

  async #send({ method, path, headers, body }: Sent): Promise<Exchange> {
    const { rest, author } = this.#options;
    try {
      const response = await fetch(`${rest()}${path}`, {
        method,
        headers: { 'tus-resumable': '1.0.0', authorization: `Bearer ${author.token}`, ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : Uint8Array.from(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text === '' ? {} : (JSON.parse(text) as Exchange['body']) };
    } catch {
      return LOST;
    }
  }
}
