/** Counts documents that are not trusted, and logs each once, so that an operator learns what a safelist would refuse. */
import { createHash } from 'node:crypto';
import type { Log } from '@trestle/log';
import { LRUCache } from 'lru-cache';
import { Counter, type Registry } from 'prom-client';

/** What happens to a document that is not trusted. */
export type UnknownDocumentResult = 'executed' | 'refused';

/** Records a document. Never throws. */
export type RecordUnknown = (query: string, result: UnknownDocumentResult) => void;

/** Documents that are remembered, and their characters; a document that is forgotten is logged again. */
const MAX_DOCUMENTS = 1000;
const MAX_CHARACTERS = 4 * 1024 * 1024;
/** Clients choose documents: this bounds the lines that they cause. */
const MAX_LINES_PER_MINUTE = 60;
const MINUTE_MS = 60_000;

/** Creates the record. A line has the SHA-256 of the document, never its text, which may have personal data. `now` returns milliseconds. */
export function createUnknownRecord(
  { log, metrics }: { readonly log: Pick<Log, 'warn'>; readonly metrics: Registry },
  now: () => number = Date.now,
): RecordUnknown {
  const counter = new Counter({
    name: 'trestle_unknown_documents_total',
    help: 'Requests with a document that is not trusted, by result: executed or refused.',
    labelNames: ['result'],
    registers: [metrics],
  });
  const logged = new LRUCache<string, true>({
    max: MAX_DOCUMENTS,
    maxSize: MAX_CHARACTERS,
    sizeCalculation: (_, text) => text.length + 1,
  });
  let [minute, lines] = [0, 0];
  return (query, result) => {
    counter.inc({ result });
    if (logged.get(query)) return;
    const current = Math.floor(now() / MINUTE_MS);
    if (current !== minute) [minute, lines] = [current, 0];
    if (++lines > MAX_LINES_PER_MINUTE) return;
    logged.set(query, true);
    log.warn(`${result} a document that is not trusted`, { hash: createHash('sha256').update(query).digest('hex') });
  };
}
