/**
 * Remembers the last event that a process has read, and finds it again after a connection to its database was lost: a database that was
 * restored meanwhile has another event there, or none (ADR 24). No I/O of its own.
 */

/** Resolves with the id of the event at a position; undefined when none is stored there. */
export type FindId = (position: number) => Promise<string | undefined>;

/** The last event that was read. */
export class HistoryMark {
  #position = 0;
  #id: string | undefined;

  /** Remembers the event at a position; undefined forgets the one that is remembered. */
  async set(position: number | undefined, findId: FindId): Promise<void> {
    if (position !== undefined && position === this.#position && this.#id !== undefined) return;
    this.#id = position === undefined ? undefined : await findId(position);
    this.#position = position ?? 0;
  }

  /**
   * Returns whether the database still has the event. Forgets one that it has not.
   * @param oldest The first position that the database keeps: an event before it may have been removed.
   */
  async isStored(findId: FindId, oldest: number): Promise<boolean> {
    if (this.#id === undefined || this.#position < oldest) return true;
    const isStored = (await findId(this.#position)) === this.#id;
    if (!isStored) this.#id = undefined;
    return isStored;
  }
}
