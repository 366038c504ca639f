/** Counts one subscription of an HTTP response, and ends it when the credential of its caller becomes invalid. */
import type { Caller } from '@trestle/identity';
import type { TokenVerifier } from '@trestle/identity/verification/token-verifier';
import type { Transport, TransportMetrics } from '../../observability/subscription-metrics.ts';

export interface WatchOptions {
  readonly verifier: TokenVerifier | undefined;
  readonly metrics: TransportMetrics;
  readonly transport: Transport;
  readonly caller: Caller | null;
}

export class SubscriptionWatch {
  readonly #options: WatchOptions;
  #unwatch: (() => void) | undefined;
  /** Whether the operation is a subscription that began. */
  #hasBegun = false;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** Returns whether the credential of the caller is still valid. It may expire without an event. */
  readonly isAuthorized = (): boolean => {
    const { caller, verifier } = this.#options;
    return caller === null || verifier === undefined || verifier.isValid(caller);
  };

  begin(operation: { revoke(): void }): void {
    const { caller, verifier, metrics, transport } = this.#options;
    this.#hasBegun = true;
    metrics.subscriptionBegan(transport);
    if (caller)
      this.#unwatch = verifier?.watch(caller, () => {
        operation.revoke();
      });
  }

  end(cause: string): void {
    const { metrics, transport } = this.#options;
    this.#unwatch?.();
    if (this.#hasBegun) metrics.subscriptionEnded(transport, cause);
  }
}
