/** The memory of one execution on bytes: responses, tapes and records. Arenas are bounded in number and in bytes, and have size classes. */

/** The smallest arena; each further class is four times as large. */
const SMALLEST_BYTES = 64 * 1024;
const CLASS_FACTOR = 4;
/** 64 KB, 256 KB, 1 MB, 4 MB. An operation that needs more is executed with objects. */
const CLASSES = 4;
/** Bytes of all arenas in use. */
const MAX_USED_BYTES = 128 * 1024 * 1024;
/** Bytes of the arenas that wait to be used again. */
const MAX_FREE_BYTES = 16 * 1024 * 1024;
/** Scanning, and copying of eight bytes at a time, may read this far beyond the end of a response. */
export const SLACK_BYTES = 64;
/** What released arenas are filled with in development and tests: no JSON text contains it, and as an offset it is far outside. */
const OVERWRITTEN = 0xfe;
const WORD_BYTES = 4;

/** Thrown when no arena is large enough, or when all arenas together would be too large. */
export class OutOfMemory extends Error {}

interface Store {
  readonly bytes: Buffer;
  readonly words: Int32Array;
  readonly view: DataView;
  readonly sizeClass: number;
}

export interface ArenaPoolOptions {
  /** Whether released arenas are overwritten, so that a later use of them fails. Default false. */
  readonly isOverwriting?: boolean;
}

export class ArenaPool {
  readonly #free: Store[][] = Array.from({ length: CLASSES }, () => []);
  readonly #isOverwriting: boolean;
  #freeBytes = 0;
  #usedBytes = 0;

  constructor({ isOverwriting = false }: ArenaPoolOptions = {}) {
    this.#isOverwriting = isOverwriting;
  }

  /** The bytes of all arenas in use, and of those that wait. */
  get counts(): { readonly used: number; readonly free: number } {
    return { used: this.#usedBytes, free: this.#freeBytes };
  }

  /** Returns an arena of at least a size class. Throws OutOfMemory. */
  take(sizeClass: number): Arena {
    return new Arena(this, this.takeStore(sizeClass));
  }

  /** Throws OutOfMemory. */
  takeStore(sizeClass: number): Store {
    const size = sizeOf(sizeClass);
    if (sizeClass >= CLASSES || this.#usedBytes + size > MAX_USED_BYTES) throw new OutOfMemory();
    this.#usedBytes += size;
    const store = this.#free[sizeClass]?.pop();
    if (!store) return createStore(sizeClass);
    this.#freeBytes -= size;
    return store;
  }

  giveStore(store: Store): void {
    const size = store.bytes.length;
    this.#usedBytes -= size;
    if (this.#isOverwriting) store.bytes.fill(OVERWRITTEN);
    if (this.#freeBytes + size > MAX_FREE_BYTES) return;
    this.#freeBytes += size;
    this.#free[store.sizeClass]?.push(store);
  }
}

/** Positions are offsets, so they stay valid when the arena grows. `bytes`, `words` and `view` are replaced then. */
export class Arena {
  bytes: Buffer;
  words: Int32Array;
  view: DataView;
  /** Where the free bytes begin. A multiple of four. */
  top = 0;
  readonly #pool: ArenaPool;
  #store: Store | undefined;

  constructor(pool: ArenaPool, store: Store) {
    this.#pool = pool;
    this.#store = store;
    ({ bytes: this.bytes, words: this.words, view: this.view } = store);
  }

  get sizeClass(): number {
    return this.#store?.sizeClass ?? 0;
  }

  /** The first word that must not be written. */
  get wordLimit(): number {
    return (this.bytes.length - SLACK_BYTES) / WORD_BYTES;
  }

  /** Makes room for bytes at the top. Throws OutOfMemory. */
  reserve(count: number): void {
    const needed = this.top + count + SLACK_BYTES;
    if (needed <= this.bytes.length) return;
    this.#grow(needed);
  }

  /** Copies bytes to the top and puts a zero byte behind them. Returns where they are. Throws OutOfMemory. */
  copyIn(source: Buffer, start: number, end: number): number {
    this.reserve(end - start + 1);
    const at = this.top;
    source.copy(this.bytes, at, start, end);
    const after = at + end - start;
    this.bytes[after] = 0;
    this.top = align(after + 1);
    return at;
  }

  /** Doubles the free space at least. Throws OutOfMemory. */
  growMore(): void {
    this.#grow(this.bytes.length + 1);
  }

  /** Gives the memory back. The arena must not be used afterwards; further calls do nothing. */
  release(): void {
    const store = this.#store;
    if (!store) return;
    this.#store = undefined;
    this.bytes = EMPTY.bytes;
    this.words = EMPTY.words;
    this.view = EMPTY.view;
    this.#pool.giveStore(store);
  }

  #grow(needed: number): void {
    const from = this.#store as Store;
    let sizeClass = from.sizeClass + 1;
    while (sizeClass < CLASSES && sizeOf(sizeClass) < needed) sizeClass++;
    const store = this.#pool.takeStore(sizeClass);
    from.bytes.copy(store.bytes, 0, 0, from.bytes.length);
    this.#store = store;
    ({ bytes: this.bytes, words: this.words, view: this.view } = store);
    this.#pool.giveStore(from);
  }
}

const EMPTY = createViews(0);

function createStore(sizeClass: number): Store {
  return { ...createViews(sizeOf(sizeClass)), sizeClass };
}

function createViews(size: number) {
  const bytes = Buffer.alloc(size);
  const { buffer, byteOffset } = bytes;
  return { bytes, words: new Int32Array(buffer, byteOffset, size / WORD_BYTES), view: new DataView(buffer, byteOffset, size) };
}

function sizeOf(sizeClass: number): number {
  return SMALLEST_BYTES * CLASS_FACTOR ** sizeClass;
}

/** Returns the next multiple of four. */
export function align(offset: number): number {
  return (offset + WORD_BYTES - 1) & -WORD_BYTES;
}
