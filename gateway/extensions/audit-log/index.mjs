// @ts-check
/** Writes who executed which operation to a file, as JSON lines. */
import { appendFile } from 'node:fs/promises';

/**
 * A mutation is executed only after its first line is in the file; its second has the outcome. A query has the second line only. The response waits for
 * its line. Variables are not written, because they may contain personal data.
 *
 * @param {{ readonly file: string }} options `file` is created when it does not exist.
 * @returns {import('@trestle/gateway/extension').Extension}
 */
export function auditLog({ file }) {
  /** Lines that wait for the write in progress. */
  let waiting = '';
  let last = Promise.resolve();

  /** Lines that arrive during a write are written together. */
  const write = (/** @type {object} */ entry) => {
    const isFirst = waiting === '';
    waiting += `${JSON.stringify({ time: new Date().toISOString(), ...entry })}\n`;
    if (isFirst) {
      const flush = () => {
        const lines = waiting;
        waiting = '';
        return appendFile(file, lines, { flush: true, mode: 0o600 });
      };
      last = last.then(flush, flush);
    }
    return last;
  };

  return {
    name: 'audit-log',
    onPlan: ({ request, operationKind, operationName }) => {
      if (operationKind === 'mutation') return write({ event: 'begin', ...toCaller(request), operationKind, operationName });
    },
    onResponse: ({ request, operationKind, operationName, outcome }) =>
      write({ event: 'end', ...toCaller(request), operationKind, operationName, outcome }),
    onStop: () => last,
  };
}

/** @param {import('@trestle/gateway/extension').ExtensionRequest} request */
function toCaller({ id, caller }) {
  return { requestId: id, userId: caller?.userId, clientId: caller?.clientId ?? undefined };
}
