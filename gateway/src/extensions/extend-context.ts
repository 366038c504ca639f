/** Calls the hooks of a request before its operations: `onRequest`, and `onContext` once the caller is known. */
import type { Fault } from '@trestle/schema/errors';
import { replaceFields } from '../headers/header-rules.ts';
import type { RequestContext } from '../request/context.ts';
import { keepCredential } from '../request/identity.ts';
import type { ExtendedRequest } from '../request/extended-request.ts';
import type { Hooks } from './compile-hooks.ts';
import { SET_LABELS } from '../supergraph/override-labels.ts';
import { type AddedContext, toContextEvent, toRequestEvent } from './events.ts';

/** Calls back, with the fault of a hook that refused the request. */
export function extendRequest(
  request: ExtendedRequest,
  { onRequest }: Pick<Hooks, 'onRequest'>,
  done: (fault: Fault | undefined) => void,
): void {
  if (onRequest) onRequest(toRequestEvent(request), done);
  else done(undefined);
}

/** Calls back with the context that the operations of the request have, or with the fault of a hook that refused it. Its caller is known. */
export function extendContext(
  context: RequestContext,
  { onContext }: Pick<Hooks, 'onContext'>,
  done: (fault: Fault | undefined, context: RequestContext) => void,
): void {
  const { extended } = context;
  extended?.setCaller(context.caller);
  if (!extended || !onContext) {
    done(undefined, context);
    return;
  }
  const added: AddedContext = { headers: [], labels: [] };
  onContext(toContextEvent(extended, added), (fault) => {
    done(fault, withLabels(withHeaders(context, added.headers), added.labels));
  });
}

/** They may change results, so they are part of the identity. A client whose credential is replaced stays distinct from others with the same one. */
function withHeaders(context: RequestContext, added: readonly string[]): RequestContext {
  if (added.length === 0) return context;
  const replaced = replaceFields(context.identity, added);
  const identity = added.some((name, i) => i % 2 === 0 && name === 'authorization') ? keepCredential(replaced, context.identity) : replaced;
  return { ...context, headers: replaceFields(context.headers, added), identity };
}

/** They choose the subgraphs of a result, so they are part of the identity. */
function withLabels(context: RequestContext, labels: readonly string[]): RequestContext {
  return labels.length === 0 ? context : { ...context, identity: [...context.identity, SET_LABELS, [...labels].sort().join()] };
}
