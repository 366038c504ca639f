/** The batched reads of one request. */
import { createRowLoader } from '@trestle/chassis/loading/loaders';
import { createLookup } from '@trestle/chassis/loading/lookup';
import type { RequestContext } from '@trestle/chassis/request/context';
import { isJobOf } from '@trestle/chassis/jobs/job-kinds';
import { hasPrefix } from '@trestle/chassis/values/ids';
import { keyVisibilityOf } from './api-key/rules.ts';
import { ownJobVisibility } from './job/rules.ts';
import type { UsersStores } from './stores.ts';
import { webhookVisibilityOf } from './webhook/rules.ts';

export type UsersLoaders = ReturnType<typeof createUsersLoaders>;

export function createUsersLoaders({ users, apiKeys, jobs, webhooks }: UsersStores, { caller }: Pick<RequestContext, 'caller'>) {
  const tombstones = createRowLoader(users.findDeleted, ({ id }) => id);
  const wasDeleted = async (id: string) => (await tombstones.load(id)) !== null;
  const visibility = keyVisibilityOf(caller);
  const loadKeys = (ids: readonly string[]) => apiKeys.findByIds(ids, { visibility });
  const loadJobs = (ids: readonly string[]) => jobs.findByIds(ids, { filter: {}, visibility: ownJobVisibility(caller) });
  const loadWebhooks = (ids: readonly string[]) => webhooks.findByIds(ids, { visibility: webhookVisibilityOf(caller) });
  return {
    job: createLookup({ noun: 'job', isId: isJobOf('users'), load: loadJobs }),
    user: createLookup({ noun: 'account', isId: isAccountId, load: users.findByIds, wasDeleted }),
    apiKey: createLookup({ noun: 'API key', isId: hasPrefix('key'), load: loadKeys, wasDeleted }),
    webhook: createLookup({ noun: 'webhook', isId: hasPrefix('whk'), load: loadWebhooks, wasDeleted }),
  };
}

/** Accounts may be inserted by other programs, whose ids have the prefix but not always the form of ours. */
function isAccountId(id: string): boolean {
  return id.startsWith('usr_');
}
