/** A client for several addresses of one subgraph. A request that an address did not take goes to another one, where that is safe. */
import type { Abortable } from '@trestle/service/process/cancellation';
import type {
  ClientCounts,
  ClientError,
  ClientErrorCode,
  ClientRequest,
  ClientResponse,
  ResponseHandler,
  UpstreamClient,
} from '@trestle/http-client/upstream-client';
import type { AddressHealth, Choice } from './address-health.ts';
import { type Outcome, outcomeOfError, outcomeOfStatus } from '../traffic/outcome.ts';

/** One address. */
export interface ClientAddress<Body> {
  readonly client: UpstreamClient<Body>;
  /** With the query, if there is one. */
  readonly path: string;
}

/** How many addresses one request is sent to: more would multiply the load when all of them fail. */
const MAX_ADDRESSES = 3;
/** After a timeout there is no time left for another address. */
const MOVABLE: ReadonlySet<ClientErrorCode> = new Set(['UNREACHABLE', 'CONNECTION_LOST', 'QUEUE_FULL']);

/** Sends each request to the address that `health` chooses. The path of a request is replaced by that of its address. */
export class BalancedClient<Body = string> implements UpstreamClient<Body> {
  readonly addresses: readonly ClientAddress<Body>[];
  readonly health: AddressHealth;

  constructor(addresses: readonly ClientAddress<Body>[], health: AddressHealth) {
    this.addresses = addresses;
    this.health = health;
  }

  send(request: ClientRequest<Body>, handler: ResponseHandler): Abortable {
    const balanced = new BalancedRequest(this, request, handler);
    balanced.start();
    return balanced;
  }

  readCounts(): ClientCounts {
    const all = this.addresses.map(({ client }) => client.readCounts());
    const sumOf = (name: keyof ClientCounts) => all.reduce((sum, counts) => sum + counts[name], 0);
    return { open: sumOf('open'), waiting: sumOf('waiting'), opened: sumOf('opened') };
  }

  async retire(): Promise<void> {
    await Promise.all(this.addresses.map(({ client }) => client.retire()));
  }

  async close(): Promise<void> {
    await Promise.all(this.addresses.map(({ client }) => client.close()));
  }
}

class BalancedRequest<Body> implements ResponseHandler, Abortable {
  readonly #owner: BalancedClient<Body>;
  readonly #request: ClientRequest<Body>;
  readonly #handler: ResponseHandler;
  readonly #tried: number[] = [];
  /** Where earlier attempts have failed. */
  readonly #avoided: readonly number[] | undefined;
  #choice: Choice | undefined;
  #sent: Abortable | undefined;
  #isAborted = false;

  constructor(owner: BalancedClient<Body>, request: ClientRequest<Body>, handler: ResponseHandler) {
    this.#owner = owner;
    this.#request = request;
    this.#handler = handler;
    this.#avoided = request.route && [...request.route.avoided];
  }

  /** Sends the request to another address. Returns false when all were tried. */
  start(): boolean {
    const { addresses, health } = this.#owner;
    const { route, isQuery = false } = this.#request;
    const choice = health.choose(isQuery, this.#tried, this.#avoided);
    if (!choice) return false;
    this.#choice = choice;
    this.#tried.push(choice.index);
    if (route) route.last = choice.index;
    const { client, path } = addresses[choice.index] as ClientAddress<Body>;
    const sent = client.send(path === this.#request.path ? this.#request : { ...this.#request, path }, this);
    // A request that fails at once is at another address already.
    if (this.#choice === choice) this.#sent = sent;
    return true;
  }

  abort(reason: Error): void {
    this.#isAborted = true;
    this.#sent?.abort(reason);
  }

  onResponse(response: ClientResponse): void {
    this.#end(outcomeOfStatus(response.status));
    this.#handler.onResponse(response);
  }

  onFailure(error: ClientError): void {
    if (this.#choice) this.#request.route?.avoided.push(this.#choice.index);
    this.#end(this.#toOutcome(error));
    if (!this.#mayMove(error) || !this.start()) this.#handler.onFailure(error);
  }

  #end(outcome: Outcome): void {
    if (this.#choice) this.#owner.health.end(this.#choice, outcome);
    this.#choice = undefined;
  }

  /** An address that had only the time that another one has left did not fail by a timeout. */
  #toOutcome({ code }: ClientError): Outcome {
    return code === 'TIMEOUT' && this.#tried.length > 1 ? 'unknown' : outcomeOfError(code);
  }

  /** As for a retry (RFC 9110 §9.2.2): a query when no byte of a response arrived, anything else only when nothing was sent. A stream is read once. */
  #mayMove({ code, progress }: ClientError): boolean {
    if (this.#isAborted || this.#tried.length >= MAX_ADDRESSES || !MOVABLE.has(code) || typeof this.#request.body !== 'string')
      return false;
    return progress === 'unsent' || (progress === 'sent' && this.#request.isQuery === true);
  }
}
