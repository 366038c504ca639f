/** Cuts the body of a request into segments, each of which is stored by itself. No I/O of its own. */

/** The body of a request that is read segment by segment. */
export interface Segments {
  /** Resolves with whether there are bytes left. A body that ends early, because the client disconnected, has none. */
  readonly hasMore: () => Promise<boolean>;
  /** Yields the next bytes, at most so many, and ends where the body ends. Never throws: what arrived is worth keeping. */
  readonly take: (maxBytes: number) => AsyncGenerator<Uint8Array>;
}

/** Creates the segments of a body. */
export function createSegments(body: AsyncIterable<Uint8Array>): Segments {
  const chunks = body[Symbol.asyncIterator]();
  let rest: Uint8Array | undefined;
  let isEnded = false;
  const read = async (): Promise<Uint8Array | undefined> => {
    while (!isEnded && (rest === undefined || rest.length === 0)) {
      // The only failure is that of the connection.
      const next = await chunks.next().catch(() => undefined);
      if (!next || next.done === true) isEnded = true;
      else rest = next.value;
    }
    return isEnded ? undefined : rest;
  };
  return {
    hasMore: async () => (await read()) !== undefined,
    async *take(maxBytes) {
      let left = maxBytes;
      while (left > 0) {
        const chunk = await read();
        if (!chunk) return;
        rest = chunk.subarray(left);
        left -= Math.min(left, chunk.length);
        yield chunk.subarray(0, chunk.length - rest.length);
      }
    },
  };
}
