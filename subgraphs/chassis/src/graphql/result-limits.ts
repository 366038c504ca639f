/**
 * Limits the results that a subgraph builds in memory: lists within lists multiply, and who calls a subgraph directly passes no estimate of
 * the cost. Counts what is really returned, so it refuses no operation for what it might have returned.
 */
import type { ApolloServerPlugin } from '@apollo/server';
import { fail } from '@trestle/schema/errors';
import {
  type FormattedExecutionResult,
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLSchema,
  OperationTypeNode,
  defaultFieldResolver,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { RequestContext } from '../request/context.ts';
import { ItemBudget, type ItemClaim } from './item-budget.ts';

/**
 * The most items of all lists of a result, entities included. The gateway's limit of costs admits operations that would have more; those are
 * refused here (docs/graphql.md, "Limits").
 */
export const MAX_LIST_ITEMS = 100_000;

/** What becomes of the result of a context, while it is executed. */
interface Progress {
  items: number;
  isDiscarded: boolean;
  readonly claim: ItemClaim;
}

interface Limits {
  readonly maxItems: number;
  readonly budget: ItemBudget;
}

const budgetOfProcess = new ItemBudget();
const progressOf = new WeakMap<RequestContext, Progress>();

/**
 * Wraps the resolvers of all fields that are lists. The list that exceeds the limit throws VALIDATION_ERROR; a query whose client has
 * disconnected throws SERVICE_UNAVAILABLE. From then on lists are empty, so that the execution ends soon; see `finishResult`. Results that are large
 * together wait for each other (`ItemBudget`).
 */
export function applyResultLimits(
  schema: GraphQLSchema,
  { maxItems = MAX_LIST_ITEMS, budget = budgetOfProcess }: Partial<Limits> = {},
): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || isIntrospectionType(type)) continue;
    for (const field of Object.values(type.getFields()) as GraphQLField<unknown, RequestContext>[])
      if (isList(field.type)) limitList(field, { maxItems, budget });
  }
}

/**
 * Ends what an executed result takes of the process's budget. Returns it without data, if its data was discarded while it was executed: it
 * may have lists that are empty for that reason.
 */
export function finishResult<R extends { data?: unknown }>(context: RequestContext, result: R): R {
  const progress = progressOf.get(context);
  progress?.claim.release();
  return progress?.isDiscarded && result.data !== undefined ? { ...result, data: null } : result;
}

/** A plugin that applies `finishResult` to each response. */
export const resultLimitPlugin: ApolloServerPlugin<RequestContext> = {
  requestDidStart: () =>
    Promise.resolve({
      executionDidStart: ({ contextValue }) =>
        Promise.resolve({
          // Called after an internal error too, which leaves no result.
          executionDidEnd: () => {
            progressOf.get(contextValue)?.claim.release();
            return Promise.resolve();
          },
        }),
      willSendResponse: ({ contextValue, response: { body } }) => {
        if (body.kind === 'single') body.singleResult = finishResult<FormattedExecutionResult>(contextValue, body.singleResult);
        return Promise.resolve();
      },
    }),
};

function isList(type: GraphQLOutputType): boolean {
  return isListType(isNonNullType(type) ? type.ofType : type);
}

function limitList(field: GraphQLField<unknown, RequestContext>, { maxItems, budget }: Limits): void {
  const { resolve = defaultFieldResolver } = field;
  field.resolve = (source, args: Record<string, unknown>, context, info) => {
    const isMutation = info.operation.operation === OperationTypeNode.MUTATION;
    const progress = startProgress(context, budget);
    if (progress.isDiscarded) return [];
    if (!isMutation && context.isAbandoned?.()) throw discard(progress, disconnected());
    const admit = (list: unknown): unknown => {
      const items = count(list, progress, maxItems);
      // A mutation has taken effect, so its result does not wait, and is not refused for other results.
      const turn = isMutation || !Array.isArray(items) ? undefined : progress.claim.take(items.length);
      return turn ? afterTurn(turn, { items, progress, context }) : items;
    };
    const list = resolve(source, args, context, info);
    return list instanceof Promise ? list.then(admit) : admit(list);
  };
}

function startProgress(context: RequestContext, budget: ItemBudget): Progress {
  const found = progressOf.get(context);
  if (found) return found;
  const progress = { items: 0, isDiscarded: false, claim: budget.open() };
  progressOf.set(context, progress);
  return progress;
}

/** Returns the list, or an empty one when the result is discarded. Throws for the first list beyond the limit. */
function count(list: unknown, progress: Progress, maxItems: number): unknown {
  if (!Array.isArray(list)) return list;
  if (progress.isDiscarded) return [];
  progress.items += list.length;
  if (progress.items > maxItems) throw discard(progress, tooLarge(maxItems));
  return list;
}

/** Resolves with the items when it is the result's turn, or with none when it is discarded. Rejects when it has waited too long. */
async function afterTurn(
  turn: Promise<void>,
  { items, progress, context }: { readonly items: unknown; readonly progress: Progress; readonly context: RequestContext },
): Promise<unknown> {
  try {
    await turn;
  } catch (error) {
    if (progress.isDiscarded) return [];
    throw discard(progress, error as Error);
  }
  if (progress.isDiscarded) return [];
  if (context.isAbandoned?.()) throw discard(progress, disconnected());
  return items;
}

function discard(progress: Progress, fault: Error): Error {
  progress.isDiscarded = true;
  return fault;
}

function tooLarge(maxItems: number): Error {
  return fail('VALIDATION_ERROR', `The lists of the result have more than ${String(maxItems)} items. Select fewer, or smaller pages.`);
}

/** Nobody receives it. */
function disconnected(): Error {
  return fail('SERVICE_UNAVAILABLE', 'The client has disconnected.');
}
