/**
 * Resolves `_entities` so that each representation succeeds or fails on its own: Apollo's resolver fails for all of them when one is
 * invalid. Federation subgraph specification, "Query._entities": the list has an entity or null for each representation, in their order.
 */
import { setImmediate as nextIteration } from 'node:timers/promises';
import { type FieldFault, fail } from '@trestle/schema/errors';
import { ID_LENGTH } from '@trestle/schema/lengths';
import { REFERENCE_FIELD } from '@trestle/schema/references';
import { type GraphQLObjectType, type GraphQLResolveInfo, type GraphQLSchema, defaultFieldResolver, isObjectType } from 'graphql';
import type { RequestContext } from '../request/context.ts';
import { checkString } from '../values/strings.ts';
import { MAX_LIST_ITEMS } from './result-limits.ts';

/** Errors cost more time and memory than entities: thousands would stop the process for a second. */
const MAX_REPORTED = 100;

/** How many representations are resolved without a pause. What they load is one statement; a thousand stop the event loop for about 2 ms. */
const MAX_AT_ONCE = 2500;

interface Representation {
  readonly __typename: string;
  readonly id: string;
}

type ResolveReference = (reference: Representation, context: unknown, info: GraphQLResolveInfo) => unknown;

interface Entity {
  readonly type: GraphQLObjectType;
  /** Absent for an entity type that another subgraph resolves. */
  readonly resolve: ResolveReference | undefined;
}

/** What an execution needs of its context. */
type Requester = Pick<RequestContext, 'isAbandoned'> | undefined;

/** What a representation stands for, or what is wrong with it. */
type Found =
  | { readonly faults: readonly FieldFault[] }
  | { readonly faults: undefined; readonly reference: Representation; readonly resolve: ResolveReference };

/**
 * Replaces the resolver of `_entities`, and resolves every `reference` field to the `id`. All entities have the key `id`; those with a
 * `reference` can be found by it as well. Throws at start for an entity without a field `id`.
 */
export function applyEntities(schema: GraphQLSchema): void {
  const field = schema.getQueryType()?.getFields()['_entities'];
  if (!field) return;
  const entities = new Map<string, Entity>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || !type.astNode?.directives?.some(({ name }) => name.value === 'key')) continue;
    entities.set(type.name, { type, resolve: resolveReferenceOf(type) });
    applyReferenceField(type);
  }

  const find = (sent: unknown): Found => {
    const typename = typeof sent === 'object' && sent !== null ? (sent as Partial<Representation>).__typename : undefined;
    const { type, resolve } = (typeof typename === 'string' ? entities.get(typename) : undefined) ?? {};
    if (!type || !resolve) return { faults: [{ field: '__typename', message: 'must be an entity type of this subgraph' }] };
    const id = parseKey(sent as Record<string, unknown>);
    const faults = id === undefined ? [{ field: 'id', message: 'must be a string' }] : checkKey(id);
    return faults.length > 0 ? { faults } : { faults: undefined, reference: { __typename: type.name, id: id ?? '' }, resolve };
  };

  field.resolve = (_, { representations }: { representations: readonly unknown[] }, context: Requester, info) => {
    const { length } = representations;
    if (length > MAX_LIST_ITEMS)
      throw fail('VALIDATION_ERROR', `${String(length)} representations exceed the limit of ${String(MAX_LIST_ITEMS)}.`);
    let reported = 0;
    const resolveOne = (sent: unknown): unknown => {
      const found = find(sent);
      if (found.faults) return reported++ < MAX_REPORTED ? invalid(found.faults) : null;
      const { reference, resolve } = found;
      return withTypename(resolve(reference, context, info), reference.__typename);
    };
    return length > MAX_AT_ONCE ? resolveInParts(representations, resolveOne, context) : representations.map(resolveOne);
  };
}

/**
 * Resolves a long list with pauses, in which other requests are handled. Returns an error in place of each entity that fails. Rejects when the client
 * disconnects before the last part.
 */
async function resolveInParts(
  representations: readonly unknown[],
  resolveOne: (sent: unknown) => unknown,
  context: Requester,
): Promise<unknown[]> {
  const entities: unknown[] = [];
  for (let from = 0; from < representations.length; from += MAX_AT_ONCE) {
    if (from > 0) await nextIteration();
    if (context?.isAbandoned?.()) throw fail('SERVICE_UNAVAILABLE', 'The client has disconnected.');
    const part = representations.slice(from, from + MAX_AT_ONCE);
    const settled = await Promise.allSettled(part.map(resolveOne));
    for (const result of settled) entities.push(result.status === 'fulfilled' ? result.value : result.reason);
  }
  return entities;
}

/** Returned in place of an entity, so that graphql-js reports the error at the path of that entity alone. */
function invalid(details: readonly FieldFault[]): Error {
  const [first] = details;
  return fail('VALIDATION_ERROR', `The representation is invalid: \`${first?.field ?? ''}\` ${first?.message ?? ''}.`, { details });
}

/** An id is coerced as in GraphQL (§3.5.5): a whole number stands for its digits. */
function parseKey({ id, [REFERENCE_FIELD]: reference }: Record<string, unknown>): string | undefined {
  const key = id ?? reference;
  if (typeof key === 'number' && Number.isSafeInteger(key)) return String(key);
  return typeof key === 'string' ? key : undefined;
}

function checkKey(id: string): FieldFault[] {
  return checkString(id, { field: 'id', ...ID_LENGTH });
}

async function withTypename(resolving: unknown, typename: string): Promise<unknown> {
  const entity = await resolving;
  if (typeof entity !== 'object' || entity === null) return entity;
  return { ...entity, __typename: typename };
}

/** Apollo stores `__resolveReference` here. */
function resolveReferenceOf({ extensions }: GraphQLObjectType): ResolveReference | undefined {
  const { apollo } = extensions as { apollo?: { subgraph?: { resolveReference?: ResolveReference } } };
  return apollo?.subgraph?.resolveReference;
}

function applyReferenceField(type: GraphQLObjectType): void {
  const { [REFERENCE_FIELD]: reference, id } = type.getFields();
  if (!id) throw new Error(`The entity type ${type.name} has no field id.`);
  if (reference)
    reference.resolve = (source, args, context, info) =>
      (id.resolve ?? defaultFieldResolver)(source, args, context, { ...info, fieldName: 'id' });
}
