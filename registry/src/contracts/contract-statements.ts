/** The statements of the registry's store for contracts. */
import type { Query } from '@trestle/chassis/database/query';
import type { Release } from '../records.ts';
import type { Contract, ContractSchema, ReleasedContract } from '../contract-records.ts';

const RELEASED = `SELECT c.*, r."schemaId", r."canarySchemaId" FROM "release_contracts" r JOIN "contracts" c USING ("environment", "name", "version")
  WHERE r."environment" = $1 AND r."number" = $2`;

type Place = Pick<Release, 'environment' | 'number'>;

/** Creates the statements, on a pool or in a transaction. */
export function createContractStatements(query: Query) {
  return {
    /** Returns the contracts of an environment that are not deleted, by name. */
    listContracts: (environment: string) =>
      query<Contract>(
        `SELECT * FROM (SELECT DISTINCT ON ("name" COLLATE "C") * FROM "contracts" WHERE "environment" = $1 ORDER BY "name" COLLATE "C", "version" DESC) c
         WHERE NOT "isDeleted"`,
        [environment],
      ),

    /** Returns the newest version of a contract, which may say that it was deleted. */
    findContract: async (environment: string, name: string) =>
      (
        await query<Contract>('SELECT * FROM "contracts" WHERE "environment" = $1 AND "name" = $2 ORDER BY "version" DESC LIMIT 1', [
          environment,
          name,
        ])
      )[0],

    insertContract: ({ environment, name, version, include, exclude, ...contract }: Omit<Contract, 'createdAt'>) =>
      query(
        `INSERT INTO "contracts" ("environment", "name", "version", "include", "exclude", "removeUnreachableTypes", "isDeleted", "actor", "message")
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
        [
          environment,
          name,
          version,
          include,
          exclude,
          contract.removeUnreachableTypes,
          contract.isDeleted,
          contract.actor,
          contract.message,
        ],
      ),

    /** Returns those of the ids that are there. */
    listContractSchemaIds: async (ids: readonly string[]) =>
      new Set((await query<{ id: string }>('SELECT "id" FROM "contract_schemas" WHERE "id" = ANY($1)', [ids])).map(({ id }) => id)),

    findContractSchema: async (id: string) => (await query<ContractSchema>('SELECT * FROM "contract_schemas" WHERE "id" = $1', [id]))[0],

    /** Keeps a schema, unless it is there. */
    insertContractSchema: ({ id, launchId, supergraphSdl, apiSdl }: ContractSchema) =>
      query('INSERT INTO "contract_schemas" ("id", "launchId", "supergraphSdl", "apiSdl") VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING', [
        id,
        launchId,
        supergraphSdl,
        apiSdl,
      ]),

    insertReleasedContract: (
      { environment, number }: Place,
      { name, version, schemaId, canarySchemaId }: Pick<ReleasedContract, 'name' | 'version' | 'schemaId' | 'canarySchemaId'>,
    ) =>
      query(
        `INSERT INTO "release_contracts" ("environment", "number", "name", "version", "schemaId", "canarySchemaId")
         VALUES ($1, $2, $3, $4, $5, $6)`,
        [environment, number, name, version, schemaId, canarySchemaId],
      ),

    /** Returns the contracts that a release serves, by name. */
    listReleasedContracts: ({ environment, number }: Place) =>
      query<ReleasedContract>(`${RELEASED} ORDER BY "name" COLLATE "C"`, [environment, number]),

    findReleasedContract: async ({ environment, number }: Place, name: string) =>
      (await query<ReleasedContract>(`${RELEASED} AND r."name" = $3`, [environment, number, name]))[0],
  };
}
