/** The registry's tables in PostgreSQL. Each function is one statement; `transact` of the database makes several of them one write. */
import type { Query } from '@trestle/chassis/database/query';
import { createContractStatements } from './contracts/contract-statements.ts';
import type { Check, CheckResult, Launch, Operation, Release, SubgraphVersion, Token } from './records.ts';

/** The statements of the registry, on a pool or in a transaction. */
export type Store = ReturnType<typeof createStore>;

/** Keys of advisory locks: one for each environment. The first number is that of the registry. */
const LOCK_SPACE = 4005;

const CHECK = `SELECT c.*, a."approver", a."reason", a."actor" AS "approvedBy",
  a."createdAt" AS "approvedAt" FROM "checks" c LEFT JOIN "approvals" a ON a."checkId" = c."id"`;
const TOKEN = `"id", "name", "scopes", "subgraphs", "environments", "createdAt", "revokedAt"`;

/** What a token is limited to; null: to nothing. */
type TokenLimits = Pick<Token, 'environments' | 'subgraphs'>;

/** Whether a token may be used for nothing outside limits. One without limits is within none. */
const WITHIN = `($1::text[] IS NULL OR "environments" <@ $1) AND ($2::text[] IS NULL OR "subgraphs" <@ $2)`;

/** Creates the statements. */
export function createStore(query: Query) {
  const one = async <Row extends object>(text: string, values: readonly unknown[]): Promise<Row | undefined> =>
    (await query<Row>(text, values))[0];
  return {
    ...createLaunchStatements(query, one),
    ...createCheckStatements(query, one),
    ...createOperationStatements(query),
    ...createTokenStatements(query, one),
    ...createContractStatements(query),
  };
}

type One = <Row extends object>(text: string, values: readonly unknown[]) => Promise<Row | undefined>;

function createLaunchStatements(query: Query, one: One) {
  return {
    /** Waits for the other writers of an environment. In a transaction only, which holds the lock until it ends. */
    lockEnvironment: (environment: string) => query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [LOCK_SPACE, environment]),

    /** Returns the current release of each environment, by name. */
    listCurrentReleases: () => query<Release>('SELECT DISTINCT ON ("environment") * FROM "releases" ORDER BY "environment", "number" DESC'),

    /** Returns the number of the current release of each of these environments. */
    listCurrentNumbers: (environments: readonly string[]) =>
      query<Pick<Release, 'environment' | 'number'>>(
        `SELECT e."environment", r."number" FROM unnest($1::text[]) AS e("environment")
         JOIN LATERAL (SELECT "number" FROM "releases" WHERE "environment" = e."environment" ORDER BY "number" DESC LIMIT 1) r ON true`,
        [environments],
      ),

    findCurrentRelease: (environment: string) =>
      one<Release>('SELECT * FROM "releases" WHERE "environment" = $1 ORDER BY "number" DESC LIMIT 1', [environment]),

    findRelease: (environment: string, number: number) =>
      one<Release>('SELECT * FROM "releases" WHERE "environment" = $1 AND "number" = $2', [environment, number]),

    /** Returns the newest release before the current one that has another launch than it. */
    findPreviousRelease: ({ environment, number, launchId }: Release) =>
      one<Release>(
        'SELECT * FROM "releases" WHERE "environment" = $1 AND "number" < $2 AND "launchId" <> $3 ORDER BY "number" DESC LIMIT 1',
        [environment, number, launchId],
      ),

    /** Returns releases, the newest first, from behind the number `before`. */
    listReleases: (environment: string, { first, before }: { readonly first: number; readonly before: number }) =>
      query<Release>('SELECT * FROM "releases" WHERE "environment" = $1 AND "number" < $2 ORDER BY "number" DESC LIMIT $3', [
        environment,
        before,
        first,
      ]),

    /** Returns the environments that have served a launch, as a canary or whole. */
    listEnvironmentsOf: async (launchId: string) =>
      (
        await query<{ environment: string }>(
          'SELECT DISTINCT "environment" FROM "releases" WHERE "launchId" = $1 OR "canaryLaunchId" = $1',
          [launchId],
        )
      ).map(({ environment }) => environment),

    insertRelease: ({ environment, number, launchId, action, promotedFrom, actor, message, ...canary }: Omit<Release, 'createdAt'>) =>
      query<Release>(
        `INSERT INTO "releases" ("environment", "number", "launchId", "action", "promotedFrom", "actor", "message", "canaryLaunchId", "canaryPercent")
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING *`,
        [environment, number, launchId, action, promotedFrom, actor, message, canary.canaryLaunchId, canary.canaryPercent],
      ).then((rows) => rows[0] as Release),

    findLaunch: (id: string) => one<Launch>('SELECT * FROM "launches" WHERE "id" = $1', [id]),

    /** Keeps a launch, unless it is there. */
    insertLaunch: ({ id, composer, versions, supergraphSdl, apiSdl }: Omit<Launch, 'createdAt'>) =>
      query(
        `INSERT INTO "launches" ("id", "composer", "versions", "supergraphSdl", "apiSdl") VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT DO NOTHING`,
        [id, composer, versions, supergraphSdl, apiSdl],
      ),

    /** Returns the versions of a launch, by the subgraphs' names. */
    listVersions: (ids: readonly string[]) =>
      query<SubgraphVersion>('SELECT * FROM "subgraph_versions" WHERE "id" = ANY($1) ORDER BY "name" COLLATE "C"', [ids]),

    /** Keeps a version, unless it is there. */
    insertVersion: ({ id, name, url, sdl, actor }: Omit<SubgraphVersion, 'createdAt'>) =>
      query('INSERT INTO "subgraph_versions" ("id", "name", "url", "sdl", "actor") VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING', [
        id,
        name,
        url,
        sdl,
        actor,
      ]),
  };
}

type CheckRow = Omit<Check, 'approval'> & {
  readonly approver: string | null;
  readonly reason: string;
  readonly approvedBy: string;
  readonly approvedAt: Date;
};

function toCheck({ approver, reason, approvedBy, approvedAt, ...check }: CheckRow): Check {
  return { ...check, approval: approver === null ? null : { approver, reason, actor: approvedBy, createdAt: approvedAt } };
}

function createCheckStatements(query: Query, one: One) {
  return {
    findCheck: async (id: string) => {
      const row = await one<CheckRow>(`${CHECK} WHERE c."id" = $1`, [id]);
      return row && toCheck(row);
    },

    /** Returns checks, the newest first. */
    listChecks: async (environment: string, first: number) =>
      (
        await query<CheckRow>(`${CHECK} WHERE c."environment" = $1 ORDER BY c."createdAt" DESC, c."id" DESC LIMIT $2`, [environment, first])
      ).map(toCheck),

    insertCheck: ({ id, environment, subgraphs, launchId, result, actor }: Omit<Check, 'createdAt' | 'approval'>) =>
      query('INSERT INTO "checks" ("id", "environment", "subgraphs", "launchId", "result", "actor") VALUES ($1, $2, $3, $4, $5, $6)', [
        id,
        environment,
        subgraphs,
        launchId,
        JSON.stringify(result satisfies CheckResult),
        actor,
      ]),

    /** Returns those of the ids of changes that were approved in the environment. Of many ids, the index costs more than it saves. */
    listApprovedChanges: async (environment: string, changes: readonly string[]) =>
      new Set(
        (
          await query<{ change: string }>(
            `SELECT DISTINCT "change" FROM "approvals", unnest("changes") AS "change"
             WHERE "environment" = $1 AND (cardinality($2::text[]) > 1000 OR "changes" && $2) AND "change" = ANY($2)`,
            [environment, changes],
          )
        ).map(({ change }) => change),
      ),

    /** Keeps an approval. Returns whether the check had none before. */
    insertApproval: async (approval: {
      readonly checkId: string;
      readonly environment: string;
      readonly changes: readonly string[];
      readonly approver: string;
      readonly reason: string;
      readonly actor: string;
    }) => {
      const { checkId, environment, changes, approver, reason, actor } = approval;
      const rows = await query(
        `INSERT INTO "approvals" ("checkId", "environment", "changes", "approver", "reason", "actor") VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT DO NOTHING RETURNING "checkId"`,
        [checkId, environment, changes, approver, reason, actor],
      );
      return rows.length > 0;
    },
  };
}

function createOperationStatements(query: Query) {
  return {
    /** Returns operations by client, name and id, from behind the operation `after`. */
    listOperations: (environment: string, { first, after }: { readonly first: number; readonly after: string | null }) =>
      query<Operation>(
        `SELECT * FROM "operations" WHERE "environment" = $1 AND ($2::text IS NULL OR ("client", "name", "id") >
           (SELECT "client", "name", "id" FROM "operations" WHERE "id" = $2))
         ORDER BY "client", "name", "id" LIMIT $3`,
        [environment, after, first],
      ),

    /** Keeps those operations that the client has not registered yet. Returns how many they were. */
    insertOperations: async (
      environment: string,
      client: string,
      operations: readonly Pick<Operation, 'id' | 'hash' | 'name' | 'text'>[],
    ) => {
      const of = (key: 'id' | 'hash' | 'name' | 'text') => operations.map((operation) => operation[key]);
      const rows = await query(
        `INSERT INTO "operations" ("id", "environment", "client", "hash", "name", "text")
         SELECT o."id", $1, $2, o."hash", o."name", o."text" FROM unnest($3::text[], $4::text[], $5::text[], $6::text[]) AS o("id", "hash", "name", "text")
         ON CONFLICT DO NOTHING RETURNING "id"`,
        [environment, client, of('id'), of('hash'), of('name'), of('text')],
      );
      return rows.length;
    },

    /** Deletes operations of a client, and returns the hashes of those that it had registered. */
    deleteOperations: async (environment: string, client: string, hashes: readonly string[]) => {
      const rows = await query<Pick<Operation, 'hash'>>(
        'DELETE FROM "operations" WHERE "environment" = $1 AND "client" = $2 AND "hash" = ANY($3) RETURNING "hash"',
        [environment, client, hashes],
      );
      return rows.map(({ hash }) => hash);
    },
  };
}

function createTokenStatements(query: Query, one: One) {
  return {
    /** Returns the valid token with the hash of a secret. */
    findTokenByHash: (hash: Buffer) => one<Token>(`SELECT ${TOKEN} FROM "tokens" WHERE "hash" = $1 AND "revokedAt" IS NULL`, [hash]),

    /** Returns the tokens that are within limits, the newest first. */
    listTokens: ({ environments, subgraphs }: TokenLimits) =>
      query<Token>(`SELECT ${TOKEN} FROM "tokens" WHERE ${WITHIN} ORDER BY "createdAt" DESC, "id" DESC LIMIT 1000`, [
        environments,
        subgraphs,
      ]),

    insertToken: ({ id, name, scopes, subgraphs, environments }: Omit<Token, 'createdAt' | 'revokedAt'>, hash: Buffer) =>
      query<Token>(
        `INSERT INTO "tokens" ("id", "hash", "name", "scopes", "subgraphs", "environments") VALUES ($1, $2, $3, $4, $5, $6) RETURNING ${TOKEN}`,
        [id, hash, name, scopes, subgraphs, environments],
      ).then((rows) => rows[0] as Token),

    /** Revokes a token. Returns undefined when there is no such token within the limits; a second call keeps the first time. */
    revokeToken: (id: string, { environments, subgraphs }: TokenLimits) =>
      one<Token>(`UPDATE "tokens" SET "revokedAt" = coalesce("revokedAt", now()) WHERE ${WITHIN} AND "id" = $3 RETURNING ${TOKEN}`, [
        environments,
        subgraphs,
        id,
      ]),
  };
}
