/** Calls the hooks of a request before its operations: `onRequest`, and `onContext` once the caller is known. */
import type { Fault } from '@trestle/schema/errors';
import { replaceFields } from '../headers/header-rules.ts';
import type { RequestContext } from '../request/context.ts';
import type { ExtendedRequest } from '../request/extended-request.ts';
import type { Hooks } from './compile-hooks.ts';
import { toContextEvent, toRequestEvent } from './events.ts';

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
  if (extended) extended.caller = context.caller;
  if (!extended || !onContext) {
    done(undefined, context);
    return;
  }
  const added: string[] = [];
  onContext(toContextEvent(extended, added), (fault) => {
    done(fault, added.length === 0 ? context : withHeaders(context, added));
  });
}

/** They may change results, so they are part of the identity. */
function withHeaders(context: RequestContext, added: readonly string[]): RequestContext {
  return { ...context, headers: replaceFields(context.headers, added), identity: replaceFields(context.identity, added) };
}
