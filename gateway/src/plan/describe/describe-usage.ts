/** Describes an operation for reports of usage, once when it is prepared (ADR 44). */
import { createHash } from 'node:crypto';
import { collectUses } from '@trestle/graph-checks/operation-uses';
import {
  type DefinitionNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import type { OperationUsage, UsageFormat } from '../../request/operation-usage.ts';
import { collectHiveCoordinates } from './hive-coordinates.ts';
import { normalizeDocument, toText } from './normal-text.ts';

/** Longer texts are not reported, and no more uses. */
export const MAX_TEXT = 200_000;
/** Hive and GraphOS decide by the coordinates of an operation alone, so that none may be left out. */
export const MAX_COORDINATE_BYTES = 5 * 1024 * 1024;
const MAX_USES = 5000;
const MAX_NAME = 200;
const MAX_USE = 400;

/** Uses that are coordinates, and those of values that variables give. */
const REPORTED = /^(?:[^-<>].*\.|@|<.*\?$)/;

export interface UsedOperation {
  readonly operation: OperationDefinitionNode;
  readonly fragments: readonly FragmentDefinitionNode[];
}

/** Returns what is reported of a valid operation; undefined when it is longer than what it is reported to takes. */
export type DescribeUsage = (schema: GraphQLSchema, used: UsedOperation) => OperationUsage | undefined;

/** Describes a valid operation as {@link DescribeUsage} does. */
export function describeUsage(
  schema: GraphQLSchema,
  { operation, fragments }: UsedOperation,
  format: Exclude<UsageFormat, 'graphos'>,
): OperationUsage | undefined {
  const sent = toDocument({ operation, fragments });
  const document = normalizeDocument(schema, sent);
  const text = toText(document);
  const isLong = text.length > MAX_TEXT;
  if (isLong && format === 'hive') return undefined;
  const uses = format === 'hive' ? findHiveUses(schema, sent) : isLong ? [] : findRegistryUses(schema, document);
  if (!uses) return undefined;
  const hash = createHash('sha256').update(text).digest('hex');
  const name = operation.name?.value;
  return {
    hash,
    name: name && name.length > MAX_NAME ? undefined : name,
    kind: operation.operation,
    // The registry counts an operation without text, so that its checks never say that nothing uses a change.
    text: isLong ? '' : text,
    uses,
  };
}

function findRegistryUses(schema: GraphQLSchema, document: DocumentNode): string[] {
  return [...collectUses(schema, document)].filter((use) => use.length <= MAX_USE && REPORTED.test(use)).slice(0, MAX_USES);
}

function findHiveUses(schema: GraphQLSchema, document: DocumentNode): string[] | undefined {
  const coordinates = [...collectHiveCoordinates(schema, document)];
  return coordinates.reduce((sum, each) => sum + each.length, 0) > MAX_COORDINATE_BYTES ? undefined : coordinates;
}

/** Returns the document of an operation and the fragments that it spreads. */
export function toDocument({ operation, fragments }: UsedOperation): DocumentNode {
  return { kind: Kind.DOCUMENT, definitions: [operation, ...findSpread(operation, fragments)] };
}

/** Returns the fragments that an operation spreads, in the order of their names: other ones belong to other operations. */
function findSpread(operation: OperationDefinitionNode, fragments: readonly FragmentDefinitionNode[]): FragmentDefinitionNode[] {
  const byName = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
  const found = new Set<FragmentDefinitionNode>();
  const look = (definition: DefinitionNode) => {
    visit(definition, {
      FragmentSpread({ name }) {
        const fragment = byName.get(name.value);
        if (!fragment || found.has(fragment)) return;
        found.add(fragment);
        look(fragment);
      },
    });
  };
  look(operation);
  return [...found].sort((left, right) => (left.name.value < right.name.value ? -1 : 1));
}
