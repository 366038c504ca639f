import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { withClient } from './client.ts';
import { applyMigrations, ensureDatabase } from './migrate.ts';

const ADMIN_URL = process.env['TEST_PG_URL'] ?? '';
let databases = 0;

describe('database migrations', () => {
  let directory: string;
  let database: string;
  let url: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'trestle-migrations-'));
    database = `migrate_${String(process.pid)}_${String(databases++)}`;
    url = Object.assign(new URL(ADMIN_URL), { pathname: `/${database}` }).href;
  });
  afterEach(async () => {
    await rm(directory, { recursive: true, force: true });
    await query(ADMIN_URL, `DROP DATABASE IF EXISTS "${database}" WITH (FORCE)`);
  });

  const query = (at: string, sql: string) => withClient(at, async (client) => (await client.query<Record<string, unknown>>(sql)).rows);
  const write = async (name: string, sql: string) => {
    await mkdir(join(directory, name), { recursive: true });
    await writeFile(join(directory, name, 'migration.sql'), sql);
  };
  const apply = () => applyMigrations({ url, directory });

  it('create the database once when several processes create it at the same time', async () => {
    await Promise.all(Array.from({ length: 4 }, () => ensureDatabase({ url })));
    await ensureDatabase({ url });
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('are applied once and in order when several processes start at the same time', async () => {
    await ensureDatabase({ url });
    await write('2_fill', 'INSERT INTO things VALUES (1); INSERT INTO things VALUES (2);');
    await write('1_make', 'CREATE TABLE things (id int); SELECT pg_sleep(0.2);');
    const applied = await Promise.all([apply(), apply(), apply()]);
    expect(applied.filter((names) => names.length > 0)).toEqual([['1_make', '2_fill']]);
    expect(await query(url, 'SELECT count(*)::int AS count FROM things')).toEqual([{ count: 2 }]);
    expect(await apply()).toEqual([]);
  });

  it('are recorded as Prisma records them', async () => {
    await ensureDatabase({ url });
    await write('1_make', 'CREATE TABLE things (id int);\n');
    await apply();
    expect(
      await query(
        url,
        'SELECT migration_name, checksum, applied_steps_count, logs, rolled_back_at, finished_at >= started_at AS finished FROM _prisma_migrations',
      ),
    ).toEqual([
      {
        migration_name: '1_make',
        checksum: '8fd813afa32693006d77a8221ab9e38ba540912e48d31cc90a5046a20750bcae',
        applied_steps_count: 1,
        logs: null,
        rolled_back_at: null,
        finished: true,
      },
    ]);
  });

  it('are rejected when they were edited after they were applied', async () => {
    await ensureDatabase({ url });
    await write('1_make', 'CREATE TABLE things (id int);');
    await apply();
    await write('1_make', 'CREATE TABLE things (id bigint);');
    await expect(apply()).rejects.toThrow('Migration 1_make was edited after it was applied');
  });

  it('are rolled back and recorded with the reason when they fail, keep earlier ones, and are applied again at the next start', async () => {
    await ensureDatabase({ url });
    await write('1_make', 'CREATE TABLE things (id int);');
    await write('2_broken', 'CREATE TABLE others (id int); INSERT INTO missing VALUES (1);');
    await expect(apply()).rejects.toThrow('Migration 2_broken failed and was rolled back: relation "missing" does not exist');
    expect(await query(url, `SELECT to_regclass('things') IS NOT NULL AS things, to_regclass('others') IS NOT NULL AS others`)).toEqual([
      { things: true, others: false },
    ]);
    expect(await query(url, 'SELECT migration_name, logs FROM _prisma_migrations WHERE rolled_back_at IS NOT NULL')).toEqual([
      { migration_name: '2_broken', logs: 'relation "missing" does not exist' },
    ]);
    await write('2_broken', 'CREATE TABLE others (id int);');
    expect(await apply()).toEqual(['2_broken']);
  });

  it('are rejected with advice when Prisma has left one unfinished', async () => {
    await ensureDatabase({ url });
    await write('1_make', 'CREATE TABLE things (id int);');
    await apply();
    await query(url, 'UPDATE _prisma_migrations SET finished_at = NULL');
    await expect(apply()).rejects.toThrow('prisma migrate resolve');
  });
});
