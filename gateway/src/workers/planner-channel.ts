/** A worker's channel to the planner that workers share: requests with replies, bounded, and an end to waiting when the primary does not answer. */
import type { FromPlanner, ToPlanner } from './messages.ts';

/** While a reply is waited for, the primary is asked every second whether it answers. After three times without a message it does not. */
const PING_MS = 1000;
const MAX_SILENT_PINGS = 3;

type Reply = Exclude<FromPlanner, { kind: 'planner pong' }>;

export class PlannerChannel {
  readonly #send: (message: ToPlanner) => void;
  readonly #pingMs: number;
  readonly #waiting = new Map<number, (reply: Reply | undefined) => void>();
  #last = 0;
  #silentPings = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(send: (message: ToPlanner) => void, pingMs = PING_MS) {
    this.#send = send;
    this.#pingMs = pingMs;
  }

  /** Resolves with the reply, or with undefined when the primary does not answer. */
  ask(toRequest: (id: number) => ToPlanner): Promise<Reply | undefined> {
    return new Promise((resolve) => {
      const id = ++this.#last;
      this.#waiting.set(id, resolve);
      this.#send(toRequest(id));
      if (this.#timer) return;
      this.#silentPings = 0;
      this.#timer = setInterval(() => {
        this.#ping();
      }, this.#pingMs).unref();
    });
  }

  /** Sends what has no reply. */
  send(message: ToPlanner): void {
    this.#send(message);
  }

  receive(message: FromPlanner): void {
    this.#silentPings = 0;
    if (message.kind === 'planner pong') return;
    const settle = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    settle?.(message);
    if (this.#waiting.size === 0) this.#stop();
  }

  /** Counts pings rather than time: after a pause of this process its messages are read before the next ping. */
  #ping(): void {
    if (this.#silentPings++ < MAX_SILENT_PINGS) {
      this.#send({ kind: 'ping planner' });
      return;
    }
    this.#stop();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const settle of waiting) settle(undefined);
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
