/** Stops what jest.postgres.mjs started. */
export default () => globalThis.stopTestSystem();
