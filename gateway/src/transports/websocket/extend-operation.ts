/** Calls the hooks of an operation over a WebSocket before it is run: `onRequest`, and `onContext`, because the caller is known. */
import type { IncomingMessage } from 'node:http';
import type { Fault } from '@trestle/schema/errors';
import type { Hooks } from '../../extensions/compile-hooks.ts';
import { extendContext, extendRequest } from '../../extensions/extend-context.ts';
import type { RequestContext } from '../../request/context.ts';
import { ExtendedRequest } from '../../request/extended-request.ts';

/** An operation before its hooks. */
export interface ExtendableOperation {
  readonly context: RequestContext;
  /** That of the opening handshake. */
  readonly request: IncomingMessage;
  readonly hooks: Pick<Hooks, 'areUsed' | 'onRequest' | 'onContext'>;
}

/** Calls the hooks of an operation, and calls back with its context, or with the fault of a hook that refused it. */
export function extendOperation(
  { context, request: { method = '', url = '', headers }, hooks }: ExtendableOperation,
  done: (refusal: Fault | undefined, context: RequestContext) => void,
): void {
  if (!hooks.areUsed) {
    done(undefined, context);
    return;
  }
  const { requestId: id, client } = context;
  const extended = new ExtendedRequest({ id, transport: 'websocket', method, url, headers, client, setResponseHeader: () => undefined });
  extendRequest(extended, hooks, (refusal) => {
    if (refusal) done(refusal, context);
    else extendContext({ ...context, extended }, hooks, done);
  });
}
