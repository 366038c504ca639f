/** Collects the keys that resolvers ask for one after another, and loads them at once. */

/** Creates a function that returns the value of a key. `loadAll(keys)` returns the values in the order of the keys. One is created for each request. */
export function createBatch(loadAll) {
  let waiting = [];
  const flush = async () => {
    const batch = waiting;
    waiting = [];
    try {
      const values = await loadAll(batch.map(({ key }) => key));
      batch.forEach(({ resolve }, index) => resolve(values[index]));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };
  return (key) =>
    new Promise((resolve, reject) => {
      // After the resolvers of this level, which graphql-js calls in one go.
      if (waiting.length === 0) process.nextTick(() => void flush());
      waiting.push({ key, resolve, reject });
    });
}
