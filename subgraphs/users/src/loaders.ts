/** The batched reads of one request. */
import { createLookup } from '@trestle/chassis/loading/lookup';
import { type Viewer, createWasDeleted } from '@trestle/chassis/loading/tombstones';
import type { RequestContext } from '@trestle/chassis/request/context';
import { isJobOf } from '@trestle/chassis/jobs/job-kinds';
import { hasPrefix } from '@trestle/chassis/values/ids';
import { type KeyVisibility, keyVisibilityOf } from './api-key/rules.ts';
import { ownJobVisibility } from './job/rules.ts';
import type { UsersStores } from './stores.ts';
import { type WebhookVisibility, webhookVisibilityOf } from './webhook/rules.ts';

export type UsersLoaders = ReturnType<typeof createUsersLoaders>;

export function createUsersLoaders({ users, apiKeys, jobs, webhooks }: UsersStores, { caller }: Pick<RequestContext, 'caller'>) {
  const wasDeleted = createWasDeleted(users.findDeleted);
  const [ofKeys, ofWebhooks] = [keyVisibilityOf(caller), webhookVisibilityOf(caller)];
  const loadKeys = (ids: readonly string[]) => apiKeys.findByIds(ids, { visibility: ofKeys });
  const loadJobs = (ids: readonly string[]) => jobs.findByIds(ids, { filter: {}, visibility: ownJobVisibility(caller) });
  const loadWebhooks = (ids: readonly string[]) => webhooks.findByIds(ids, { visibility: ofWebhooks });
  return {
    job: createLookup({ noun: 'job', isId: isJobOf('users'), load: loadJobs }),
    user: createLookup({ noun: 'account', isId: isAccountId, load: users.findByIds, wasDeleted: wasDeleted('all') }),
    apiKey: createLookup({ noun: 'API key', isId: hasPrefix('key'), load: loadKeys, wasDeleted: wasDeleted(viewerOf(ofKeys)) }),
    webhook: createLookup({ noun: 'webhook', isId: hasPrefix('whk'), load: loadWebhooks, wasDeleted: wasDeleted(viewerOf(ofWebhooks)) }),
  };
}

function viewerOf(visibility: KeyVisibility | WebhookVisibility): Viewer {
  return visibility.all ? 'all' : { ownerId: visibility.userId };
}

/** Accounts may be inserted by other programs, whose ids have the prefix but not always the form of ours. */
function isAccountId(id: string): boolean {
  return id.startsWith('usr_');
}
