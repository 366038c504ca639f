/** The webhooks of this process: their secrets, the addresses that they may have, and the worker that sends deliveries. */
import type { Log } from '@trestle/log';
import { findAddressFault } from '../delivery/addresses.ts';
import { createSender } from '../delivery/send.ts';
import type { DeliveryStore } from '../delivery/store.ts';
import { DeliveryWorker } from '../delivery/worker.ts';
import type { AddressRule } from './rules.ts';
import { type WebhookSecrets, createWebhookSecrets } from './secrets.ts';

/** What resolvers need of webhooks besides their store. */
export interface Webhooks {
  readonly secrets: Pick<WebhookSecrets, 'create'>;
  readonly addressRule: AddressRule;
  /** Has due deliveries sent now rather than within a second. */
  readonly wake: () => void;
}

/** The settings of webhooks. */
export interface WebhookSettings {
  readonly WEBHOOK_KEY_FILE: readonly string[];
  readonly WEBHOOK_ALLOW_PRIVATE: boolean;
  readonly WEBHOOK_RETRY_SECONDS: readonly number[];
  readonly WEBHOOK_DISABLE_AFTER_HOURS: number;
}

/** Creates what resolvers need, and the worker, which is not started yet. */
export function createWebhooks(
  settings: WebhookSettings,
  { deliveries, log }: { readonly deliveries: DeliveryStore; readonly log: Log },
): Webhooks & { readonly worker: DeliveryWorker } {
  const { WEBHOOK_ALLOW_PRIVATE: allowsPrivate } = settings;
  const secrets = createWebhookSecrets(settings.WEBHOOK_KEY_FILE);
  const worker = new DeliveryWorker({
    deliveries,
    sender: createSender({ allowsPrivate, now: Date.now }),
    secrets,
    retrySeconds: settings.WEBHOOK_RETRY_SECONDS,
    disableAfterHours: settings.WEBHOOK_DISABLE_AFTER_HOURS,
    log,
  });
  const addressRule = { allowsPrivate, findFault: allowsPrivate ? () => undefined : findAddressFault };
  return {
    secrets,
    addressRule,
    wake: () => {
      worker.wake();
    },
    worker,
  };
}
