/**
 * Lists the changes between two API schemas by `@graphql-inspector/core`, and says for each which uses of the schema it affects. The usage rule
 * of that library compares prefixes of paths, so that a use of `User.nameX` counts as one of `User.name`; ours compares coordinates.
 */
import { type Change, CriticalityLevel, diff } from '@graphql-inspector/core';
import type { GraphQLSchema } from 'graphql';
import { type ComparedSupergraphs, listAccessChanges } from './access-changes.ts';
import {
  CHANGE_RULES,
  isBreaking,
  isInputChange,
  isNewImplementation,
  isNewlyRequired,
  isPossibleTypeChange,
  isUseOfDeprecated,
} from './change-rules.ts';
import type { Compared } from './broken-spreads.ts';
import type { ChangeLevel, SchemaChange } from './schema-change.ts';
import { inputUse, typeUse } from './use-keys.ts';

const LEVELS: Record<CriticalityLevel, ChangeLevel> = {
  [CriticalityLevel.Breaking]: 'breaking',
  [CriticalityLevel.Dangerous]: 'dangerous',
  [CriticalityLevel.NonBreaking]: 'safe',
};
const ORDER: Record<ChangeLevel, number> = { breaking: 0, dangerous: 1, safe: 2 };

/** Returns the changes from one public schema to the next, breaking ones first. With their supergraphs, also what fewer callers may read. */
export async function listChanges(from: GraphQLSchema, to: GraphQLSchema, supergraphs?: ComparedSupergraphs): Promise<SchemaChange[]> {
  const changes = leaveOutRepeated(await diff(from, to)).map((change) => toSchemaChange(change, { from, to }));
  const restricted = supergraphs ? listAccessChanges(supergraphs, [from, to]) : [];
  return [...changes, ...restricted].sort(
    (left, right) => ORDER[left.level] - ORDER[right.level] || compare(left.coordinate, right.coordinate),
  );
}

/** The library lists the deprecation of a field or an enum value also as a use of the directive; not so that of an argument or an input field. */
function leaveOutRepeated(changes: readonly Change[]): Change[] {
  const listed = new Set(changes.flatMap(({ type, path }) => (String(type).includes('_DEPRECATION_') ? [path] : [])));
  return changes.filter((change) => !isUseOfDeprecated(change) || !listed.has(change.path?.replace(/\.reason$/u, '')));
}

function levelOf(change: Change, compared: Compared): ChangeLevel {
  if (isUseOfDeprecated(change)) return 'safe';
  if (isBreaking(change) || isNewlyRequired(change, compared)) return 'breaking';
  // The library counts every part of a new type as safe.
  return isNewImplementation(change, compared) ? 'dangerous' : LEVELS[change.criticality.level];
}

function toSchemaChange(change: Change, compared: Compared): SchemaChange {
  const rule = CHANGE_RULES[change.type as string];
  const meta = change.meta as Record<string, unknown>;
  const coordinate = rule?.coordinate(meta) ?? change.path ?? 'schema';
  const [type = coordinate] = coordinate.split('.', 1);
  return {
    type: String(change.type),
    level: levelOf(change, compared),
    coordinate,
    message: change.message,
    // An unknown kind of change affects every operation that uses the type.
    affects: rule?.affects(meta, compared) ?? [typeUse(type), inputUse(type)],
    isInput: isInputChange(String(change.type)),
    isAddition: isPossibleTypeChange(String(change.type)),
  };
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
