/** What extensions know of a request, and keep for it. It exists only in a gateway with extensions. */
import type { Caller } from '@trestle/identity';

export interface ExtendedRequestSource {
  readonly id: string;
  readonly transport: 'http' | 'websocket';
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The client, as `clientOf` of `@trestle/service` names it: what it waited a hook for counts as its use of the event loop. */
  readonly client: string | undefined;
  /** Sets a header of the response. */
  readonly setResponseHeader: (name: string, value: string) => void;
}

export interface ExtendedRequest extends ExtendedRequestSource {
  /** Undefined until the caller is known. */
  caller: Caller | null | undefined;
  /** What extensions keep until the end of the request. */
  readonly state: Map<unknown, unknown>;
}

/** Creates the extended request of an HTTP request, or of an operation over a WebSocket. */
export function createExtendedRequest(source: ExtendedRequestSource): ExtendedRequest {
  return { ...source, caller: undefined, state: new Map() };
}
