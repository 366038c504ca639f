/** Why an operation is ended that may have no result yet. The work for it goes on, as if its client had disconnected. No I/O. */
export const STOP_CAUSES: ReadonlySet<string> = new Set(['stopped', 'slow-consumer', 'unauthorized', 'shutdown']);
