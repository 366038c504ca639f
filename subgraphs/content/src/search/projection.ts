/**
 * Projects events into the search index. An event says only what has changed: the document is written as it is stored by then, so that an
 * event that comes twice, or after a later one, does no harm.
 */
import type { Query } from '@trestle/chassis/database/query';
import { toSqlClient } from '@trestle/chassis/database/sql';
import type { DomainEvent } from '@trestle/chassis/events/feeds/domain-event';
import type { Accounts } from './accounts.ts';
import { type IndexTables, createIndexStore } from './index-store.ts';

/** Writes what events are about into the tables, by statements of one transaction. */
export type Project = (events: readonly Pick<DomainEvent, 'type' | 'subject'>[], query: Query, tables: IndexTables) => Promise<void>;

/** Creates the projection. It throws UPSTREAM_ERROR when accounts have changed and cannot be read, and is then repeated as a whole. */
export function createProjection(accounts: Pick<Accounts, 'findActive'>): Project {
  return async (events, query, tables) => {
    const index = createIndexStore(toSqlClient(query), tables);
    const subjects = (noun: string) => [...new Set(events.filter(({ type }) => type.startsWith(`${noun}.`)).map(({ subject }) => subject))];
    const [posts, comments, users] = [subjects('post'), subjects('comment'), subjects('user')];
    if (posts.length > 0) await index.writePosts(posts);
    if (comments.length > 0) await index.writeComments(comments);
    if (users.length > 0) await index.writeAccounts(users, await accounts.findActive(users));
  };
}
