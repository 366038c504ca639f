/** Checks responses of the gateway: no marker of another request, and the data that graphql-js returns. */
import { createHash } from 'node:crypto';
import { behaviourOf } from './faults.ts';
import { SAMPLE, findForeign, replaceMarker } from './marker.ts';
import { type MarkedOperation, SUBGRAPHS, answerOf } from './world.ts';

export interface Sent {
  readonly operation: MarkedOperation;
  readonly marker: string;
}

/** `late`: the subgraphs, which share the machine, took longer than the gateway waits. */
export type Verdict = 'equal' | 'faults' | 'late' | { readonly leak: string } | { readonly difference: string };

const MAX_TEXTS = 20_000;
const MAX_SHOWN = 600;

/** Returns a function that checks the response to one request. Texts that were right before need not be parsed again. */
export function createResponseCheck(): (text: string, sent: Sent) => Verdict {
  const right = new Set<string>();
  const expected = new Map<MarkedOperation, string>();
  const expectedOf = (operation: MarkedOperation) => {
    let text = expected.get(operation);
    if (text === undefined) expected.set(operation, (text = answerOf(operation)));
    return text;
  };
  return (text, { operation, marker }) => {
    const foreign = findForeign(text, marker);
    if (foreign.length > 0) return { leak: `${operation.name} of ${marker} has ${foreign.join()}: ${text.slice(0, MAX_SHOWN)}` };
    if (!Object.keys(SUBGRAPHS).every((service) => behaviourOf(marker, service).isFaultless)) return 'faults';
    const sample = replaceMarker(text, marker, SAMPLE);
    const key = createHash('sha1').update(`${operation.name} ${sample}`).digest('base64');
    if (right.has(key)) return 'equal';
    const parsed = parseResult(sample);
    if (!parsed) return { difference: `${operation.name} of ${marker} is no JSON: ${text.slice(0, MAX_SHOWN)}` };
    const { data, errors } = parsed;
    if (errors?.every(({ extensions }) => extensions?.code === 'UPSTREAM_TIMEOUT')) return 'late';
    if (errors !== undefined || JSON.stringify(data) !== expectedOf(operation))
      return { difference: `${operation.name} of ${marker}: ${describeDifference(sample, expectedOf(operation))}` };
    if (right.size > MAX_TEXTS) right.clear();
    right.add(key);
    return 'equal';
  };
}

interface Parsed {
  readonly data?: unknown;
  readonly errors?: readonly { readonly extensions?: { readonly code?: unknown } }[];
}

function parseResult(text: string): Parsed | undefined {
  try {
    return JSON.parse(text) as Parsed;
  } catch {
    return undefined;
  }
}

function describeDifference(text: string, expected: string): string {
  const wanted = `{"data":${expected}}`;
  let at = 0;
  while (at < text.length && text[at] === wanted[at]) at++;
  const from = Math.max(0, at - 80);
  return `at ${at} ${text.slice(from, at + MAX_SHOWN)}\n  instead of ${wanted.slice(from, at + MAX_SHOWN)}`;
}
