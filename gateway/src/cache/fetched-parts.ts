/** The parts of a response that are kept: each entity, or the data of a fetch at the root. No I/O. */
import type { ResponseBody } from '../execute/execute.ts';
import { scanAny } from '../execute/bytes/scanners.ts';
import type { SubgraphError, SubgraphResult } from '../program/result.ts';
import type { FoundResult } from './result-store.ts';

const DATA = Buffer.from('{"data":');
const DATA_END = Buffer.from('}');
const ENTITIES = Buffer.from('{"data":{"_entities":[');
const ENTITIES_END = Buffer.from(']}}');
const NULL = Buffer.from('null');
const COMMA = 0x2c;
const OPENING_BRACE = 0x7b;

/** Returns the parts, which are lent as the body is; undefined for a response that has anything else, such as errors, or white space. */
export function readParts(body: ResponseBody, isOfEntities: boolean): Buffer[] | undefined {
  return isOfEntities ? readEntities(body) : readData(body);
}

function readData({ bytes, start, end }: ResponseBody): Buffer[] | undefined {
  if (!hasAt(bytes, start, DATA)) return undefined;
  const from = start + DATA.length;
  const to = bytes[from] === OPENING_BRACE ? scanAny(bytes, from, 0) : 0;
  return to === end - DATA_END.length && hasAt(bytes, to, DATA_END) ? [bytes.subarray(from, to)] : undefined;
}

function readEntities({ bytes, start, end }: ResponseBody): Buffer[] | undefined {
  if (!hasAt(bytes, start, ENTITIES)) return undefined;
  const found: Buffer[] = [];
  let at = start + ENTITIES.length - 1;
  do {
    const from = at + 1;
    at = scanAny(bytes, from, 0);
    if (at === 0 || at >= end) return undefined;
    found.push(bytes.subarray(from, at));
  } while (bytes[at] === COMMA);
  return at + ENTITIES_END.length === end && hasAt(bytes, at, ENTITIES_END) ? found : undefined;
}

/** Returns the body of a response with these parts. */
export function joinParts(parts: readonly Buffer[], isOfEntities: boolean): Buffer {
  const [head, end] = isOfEntities ? [ENTITIES, ENTITIES_END] : [DATA, DATA_END];
  const length = parts.reduce((sum, each) => sum + each.length + 1, head.length + end.length);
  const bytes = Buffer.allocUnsafe(length);
  let at = head.copy(bytes, 0);
  parts.forEach((each, i) => {
    if (i > 0) bytes[at++] = COMMA;
    at += each.copy(bytes, at);
  });
  at += end.copy(bytes, at);
  return bytes.subarray(0, at);
}

export interface PartialFetch {
  /** What was kept, by the index of its representation. */
  readonly found: readonly (FoundResult | undefined)[];
  /** The indexes that were fetched. */
  readonly missing: readonly number[];
}

/** Returns the result of the whole fetch: the entities that were fetched between those that were kept, and errors at the places that these have. */
export function mergeParts({ data, errors, ...others }: SubgraphResult, { found, missing }: PartialFetch): SubgraphResult {
  const fetched: unknown = data?.['_entities'];
  const moved = errors?.map((error) => moveError(error, missing));
  // Without its list of entities: the executor says that the result is wrong.
  if (!Array.isArray(fetched) || fetched.length !== missing.length)
    return { ...others, ...(data && { data: {} }), ...(moved && { errors: moved }) };
  const entities = found.map((each): unknown => (each ? (JSON.parse(each.bytes.toString()) as unknown) : undefined));
  missing.forEach((index, i) => {
    entities[index] = fetched[i] as unknown;
  });
  return { ...others, data: { ...data, _entities: entities }, ...(moved && { errors: moved }) };
}

function moveError(error: SubgraphError, missing: readonly number[]): SubgraphError {
  const path: unknown = (error as Partial<SubgraphError> | null)?.path;
  if (!Array.isArray(path) || path[0] !== '_entities') return error;
  const [name, index, ...rest] = path as unknown[];
  return { ...error, path: [name, missing[index as number] ?? index, ...rest] };
}

/** Returns whether an entity is null: its subgraph does not know it. */
export function isNullPart(part: Buffer): boolean {
  return part.equals(NULL);
}

function hasAt(bytes: Buffer, at: number, text: Buffer): boolean {
  return bytes.length >= at + text.length && bytes.compare(text, 0, text.length, at, at + text.length) === 0;
}
