/**
 * Checks that entities are those of their representations (Federation subgraph specification, `_entities`): of the same type, and with the same key
 * where a fetch requests it again, because the fetch after it needs it beside what it requires.
 */
import { MISSING, PIECE_WORDS, RECORD_WORDS, type RepeatedKey, TYPE_WORD } from '../../program/bytes-program.ts';
import type { Data } from '../../program/program.ts';
import type { Arena } from './arena.ts';
import type { BytesOperation } from './bytes-operation.ts';
import type { FetchState } from './fetch-state.ts';

export interface WalkedEntities {
  readonly arena: Arena;
  readonly operation: BytesOperation;
  readonly states: readonly (FetchState | undefined)[];
  /** The entities' fetch and its response. */
  readonly index: number;
  readonly state: FetchState;
}

/** Returns whether each entity that is not missing has the type of its representation, and the same bytes where it has a key again. */
export function isAsRepresented({ arena, operation, states, index, state }: WalkedEntities): boolean {
  const { owners = [], repeatedKeys = [], representations = [] } = operation.program.fetches[index] ?? {};
  const hasTypes = representations.length > 1;
  if (repeatedKeys.length === 0 && !hasTypes) return true;
  const { words } = arena;
  for (const owner of owners) {
    const { tape = 0, tapeEnd = 0 } = states[owner] ?? {};
    for (let t = tape; t < tapeEnd;) {
      const word = words[t] as number;
      const hole = word >= 0 ? undefined : operation.holes[~word];
      if (hole?.fetch === index && hole.hasKey) {
        const record = state.records + (words[t + 1] as number) * state.parts * RECORD_WORDS;
        const isMissing = words[record + 1] === MISSING;
        if (hasTypes && !isMissing && words[record + TYPE_WORD] !== hole.representation) return false;
        const entity = words[record] as number;
        for (const { representation, inEntity, inHole } of isMissing ? [] : repeatedKeys)
          if (representation === hole.representation && !isSame(arena, t + inHole, entity + inEntity)) return false;
      }
      t += hole?.words ?? PIECE_WORDS;
    }
  }
  return true;
}

/** Compares two values, whose places stand in the tapes. */
function isSame({ bytes, words }: Arena, one: number, other: number): boolean {
  let i = words[one] as number;
  let j = words[other] as number;
  const end = words[one + 1] as number;
  if (end - i !== (words[other + 1] as number) - j) return false;
  for (; i < end; i++, j++) if (bytes[i] !== bytes[j]) return false;
  return true;
}

/** Removes keys that entities have again from a response's data: the object executor does not request them. */
export function dropRepeatedKeys(data: Data, keys: readonly RepeatedKey[]): void {
  const entities = data['_entities'];
  if (keys.length === 0 || !Array.isArray(entities)) return;
  for (const each of entities as unknown[]) {
    if (typeof each !== 'object' || each === null) continue;
    const entity = each as Data;
    const type = entity['__typename'];
    // The object executor ignores what is undefined.
    for (const repeated of keys) if (type === undefined || type === repeated.type) entity[repeated.key] = undefined;
  }
}
