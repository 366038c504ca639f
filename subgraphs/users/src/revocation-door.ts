/** Tells other processes of ours which tokens are revoked: a WebSocket each, on which they say what they have taken up (ADR 10). */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Revocation, Revocations } from '@trestle/identity/revocations';
import { type WebSocket, WebSocketServer } from 'ws';

/** How long an answer waits for a process that does not say so. */
const PATIENCE_MS = 1000;
const PING_INTERVAL_MS = 5000;
const MAX_MESSAGE_BYTES = 100;

export interface RevocationDoor {
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** All are known from here on; before, nobody is told half of them. */
  readonly open: () => void;
  /** Adds one; resolves when every process that listens here refuses the token, or after a second. */
  readonly revoke: (revocation: Revocation) => Promise<void>;
  readonly stop: () => void;
}

export function createRevocationDoor(
  revocations: Pick<Revocations, 'add' | 'list' | 'subscribe'>,
  { pingIntervalMs = PING_INTERVAL_MS }: { readonly pingIntervalMs?: number } = {},
): RevocationDoor {
  const server = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false });
  /** Which number each has said last, and whether it has given a sign of life since the last ping. */
  const watchers = new Map<WebSocket, { said: number; isAlive: boolean }>();
  const waiting = new Set<() => void>();
  let number = 0;
  let isOpen = false;

  const tell = (watcher: WebSocket, revoked: readonly Revocation[]) => {
    watcher.send(JSON.stringify({ number, revoked }));
  };
  const ignore = revocations.subscribe((revocation) => {
    number++;
    for (const watcher of watchers.keys()) tell(watcher, [revocation]);
  });
  const lookAgain = () => {
    for (const look of [...waiting]) look();
  };
  const pinger = setInterval(() => {
    for (const [watcher, state] of watchers) {
      // One that does not read does not answer either; if it is there, it comes again and is told all.
      if (!state.isAlive) watcher.terminate();
      state.isAlive = false;
      watcher.ping();
    }
  }, pingIntervalMs).unref();

  return {
    upgrade(request, socket, head) {
      if (!isOpen) {
        // A client that keeps its side open would else keep the connection.
        socket.once('finish', () => socket.destroy());
        socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
        return;
      }
      server.handleUpgrade(request, socket, head, (watcher) => {
        const state = { said: -1, isAlive: true };
        watchers.set(watcher, state);
        watcher.on('pong', () => (state.isAlive = true));
        watcher.on('message', (data: Buffer) => {
          Object.assign(state, { said: Number(data.toString()), isAlive: true });
          lookAgain();
        });
        watcher.on('error', () => undefined);
        watcher.once('close', () => {
          watchers.delete(watcher);
          lookAgain();
        });
        tell(watcher, revocations.list());
      });
    },
    open() {
      isOpen = true;
    },
    revoke(revocation) {
      revocations.add(revocation);
      const wanted = number;
      return new Promise((resolve) => {
        const settle = () => {
          clearTimeout(patience);
          waiting.delete(look);
          resolve();
        };
        const look = () => {
          if (![...watchers.values()].some(({ said }) => said < wanted)) settle();
        };
        const patience = setTimeout(settle, PATIENCE_MS);
        waiting.add(look);
        look();
      });
    },
    stop() {
      ignore();
      clearInterval(pinger);
      for (const watcher of watchers.keys()) watcher.terminate();
    },
  };
}
