/** Measures the pages of a registry, and a check, with simulated roll-ups. */
import { createHash, randomUUID } from 'node:crypto';
import pg from 'pg';
import { startRegistry } from '../../e2e/dist/scenarios/registry/registry-client.js';
import { createToken } from '../../e2e/dist/scenarios/usage/usage-client.js';
import { withPostgres } from '../postgres.mjs';

const OPERATIONS = 3000;
const CLIENTS = 60;
const CLIENTS_OF_OPERATION = 4;
const HOURS = 12;
const REQUESTS = 100_000_000;
const TYPES = 60;
const REPEATS = 15;
const ENVIRONMENT = 'prod';
/** The same graph, of which nothing is recorded. */
const EMPTY = 'empty';
const FLAGS = ['-c', 'fsync=off', '-c', 'synchronous_commit=off', '-c', 'max_wal_size=4GB', '-c', 'shared_buffers=512MB'];

const writeSdl = (without = -1) => `type Query { ${Array.from({ length: TYPES }, (_, i) => `t${i}(id: ID, by: By): T${i}`).join(' ')} }
  input By { a: Int b: String } ${Array.from({ length: TYPES }, (_, i) => {
    const last = i === without ? '' : 'f9: Int';
    return `type T${i} { ${Array.from({ length: 9 }, (_, f) => `f${f}: Int`).join(' ')} ${last} next: T${(i + 1) % TYPES} }`;
  }).join(' ')}`;

const operations = Array.from({ length: OPERATIONS }, (_, i) => {
  const at = i % TYPES;
  const fields = Array.from({ length: 6 }, (_, f) => `f${(f + i) % 10}`);
  const next = (at + 1) % TYPES;
  const text = `query O${i}($by:By){t${at}(id:"",by:$by){${fields.join(' ')} next{${fields.join(' ')}}}}`;
  const uses = [`Query.t${at}`, `Query.t${at}(by:)`, `Query.t${at}(id:)`, '<By?', `T${at}.next`];
  return {
    hash: createHash('sha256').update(text).digest('hex'),
    name: `O${i}`,
    text,
    uses: [...uses, ...fields.flatMap((f) => [`T${at}.${f}`, `T${next}.${f}`])],
  };
});

export function measureRegistry({ days }) {
  return withPostgres({ flags: FLAGS }, async () => {
    const registry = await startRegistry({ REGISTRY_CHECK_ENOUGH_DAYS: '0', DATABASE_STATEMENT_TIMEOUT_MS: '60000' });
    try {
      const publish = 'mutation ($input: PublishSubgraphsInput!) { publishSubgraphs(input: $input) { problems { message } } }';
      for (const environment of [ENVIRONMENT, EMPTY])
        await ask(registry, publish, { input: { environment, subgraphs: [{ name: 'one', url: 'http://one', sdl: writeSdl() }] } });
      const counts = await fill(registry, days);
      const pages = await measurePages(registry, days);
      const reportMs = await measureReport(registry);
      const checkMs = await measureCheck(registry, { environment: ENVIRONMENT, days });
      const withoutUsageMs = await measureCheck(registry, { environment: EMPTY, days });
      return { ...counts, pages, reportMs, checkMs, withoutUsageMs, operations: OPERATIONS, days, repeats: REPEATS };
    } finally {
      await registry.stop();
    }
  });
}

async function ask(registry, query, variables) {
  const { data, errors } = await registry.graphql(query, variables);
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('; '));
  return data;
}

/** Traffic follows Zipf's law: the first operation has about a tenth of it. */
async function fill(registry, days) {
  const client = new pg.Client({ connectionString: registry.databaseUrl });
  await client.connect();
  const started = performance.now();
  for (const table of ['usage_days', 'usage_hours', 'usage_operation_days', 'usage_client_days'])
    for (let day = 3; day <= days; day++) {
      const from = `current_date - ${day - 1}`;
      await client.query(`DO $$ BEGIN EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF "${table}" FOR VALUES FROM (%L) TO (%L)',
        '${table}_' || to_char(${from}, 'YYYYMMDD'), ${from}, ${from} + 1); END $$`);
    }
  await client.query(
    `INSERT INTO "usage_operations" ("environment", "hash", "name", "text", "uses", "firstSeen", "lastSeen")
     SELECT $1, o.hash, o.name, o.text, ARRAY(SELECT jsonb_array_elements_text(o.uses)), now(), now()
     FROM jsonb_to_recordset($2::jsonb) AS o(hash text, name text, text text, uses jsonb)`,
    [ENVIRONMENT, JSON.stringify(operations)],
  );
  await client.query(
    `INSERT INTO "usage_clients" ("environment", "name", "version", "lastSeen") SELECT $1, 'client ' || i / 5, '1.' || i % 5, now() FROM generate_series(1, $2::int) i`,
    [ENVIRONMENT, CLIENTS],
  );
  const rows = `FROM (SELECT "id", row_number() OVER (ORDER BY "id") AS rank FROM "usage_operations") o
    CROSS JOIN generate_series(0, ${CLIENTS_OF_OPERATION - 1}) c CROSS JOIN generate_series(0, ${days - 1}) d`;
  const clientId = `(SELECT min("id") FROM "usage_clients") + (o.rank * 7 + c * 13) % ${CLIENTS}`;
  const weight = Array.from({ length: OPERATIONS }, (_, i) => 1 / (i + 10)).reduce((sum, each) => sum + each, 0);
  const daily = `greatest(1, (${REQUESTS} / ${days * CLIENTS_OF_OPERATION * weight} / (o.rank + 9))::bigint)`;
  await client.query(
    `INSERT INTO "usage_days" SELECT '${ENVIRONMENT}', o."id", ${clientId}, current_date - d, ${daily}, ${daily} / 100, current_date - d + interval '12 hours' ${rows}`,
  );
  await client.query(
    `INSERT INTO "usage_operation_days" SELECT "environment", "operationId", "day", r, e,
       ARRAY(SELECT CASE WHEN i = 6 THEN r - 15 * (r / 50) WHEN i BETWEEN 2 AND 16 THEN r / 50 ELSE 0 END FROM generate_series(1, 18) i), s
     FROM (SELECT "environment", "operationId", "day", sum("requests") AS r, sum("errors") AS e, max("lastSeen") AS s FROM "usage_days" GROUP BY 1, 2, 3) t`,
  );
  await client.query(
    `INSERT INTO "usage_client_days" SELECT "environment", "clientId", "day", sum("requests"), sum("errors"), max("lastSeen") FROM "usage_days" GROUP BY 1, 2, 3`,
  );
  await client.query(
    `INSERT INTO "usage_hours" SELECT '${ENVIRONMENT}', o."id", ${clientId}, current_date - d, h, greatest(1, ${daily} / ${HOURS}), 0 ${rows}
     CROSS JOIN generate_series(6, ${5 + HOURS}) h`,
  );
  await client.query('ANALYZE');
  const { rows: found } =
    await client.query(`SELECT (SELECT count(*) FROM "usage_days") AS days, (SELECT count(*) FROM "usage_hours") AS hours,
    (SELECT sum("requests") FROM "usage_days") AS requests`);
  await client.end();
  console.log(`filled in ${((performance.now() - started) / 1000).toFixed(0)} s`);
  return { dayRows: Number(found[0].days), hourRows: Number(found[0].hours), requests: Number(found[0].requests) };
}

async function measurePages(registry, days) {
  const [first, , , middle] = operations.map(({ hash }) => hash);
  const operation = 'hash name text requests percent errors p50Ms p95Ms firstSeen lastSeen';
  const client = 'id name version requests percent errors lastSeen';
  const fields = 'coordinate requests percent operations lastSeen';
  const pages = {
    'totals of the environment': 'requests errors since',
    'operations by traffic, the first 100': `operations(first: 100) { ${operation} }`,
    'operations, a page behind them': `operations(first: 100, after: "${middle}") { ${operation} }`,
    'operations that use a coordinate': `operations(first: 100, coordinate: "T7.f3") { ${operation} }`,
    'one operation with its hours': `operation(hash: "${first}") { ${operation} } hours(operation: "${first}") { hour requests errors }`,
    'clients of the environment': `clients(first: 100) { ${client} }`,
    'clients of one operation': `clients(operation: "${first}") { ${client} }`,
    'coordinates, the first 100': `fields(first: 100) { ${fields} }`,
    'coordinates of one type': `fields(type: "T7") { ${fields} }`,
  };
  const results = [];
  for (const [name, fragment] of Object.entries(pages)) {
    const times = [];
    for (let i = 0; i < REPEATS; i++) {
      const started = performance.now();
      await ask(registry, `{ environment(name: "${ENVIRONMENT}") { usage(days: ${days}) { ${fragment} } } }`);
      times.push(performance.now() - started);
    }
    times.sort((a, b) => a - b);
    results.push({ name, median: times[Math.floor(REPEATS / 2)], worst: times.at(-1) });
    console.log(name, times.map(Math.round).join(' '));
  }
  return results;
}

/** Returns the median time of a report of 500 operations that are known. */
async function measureReport(registry) {
  const token = await createToken(registry, ['REPORT']);
  const times = [];
  for (let i = 0; i < REPEATS; i++) {
    const body = JSON.stringify({
      id: randomUUID(),
      minute: new Date(Math.floor(Date.now() / 60_000) * 60_000).toISOString(),
      operations: operations.slice(0, 500).map(({ hash, name }) => ({ hash, name })),
      clients: [{ name: 'client 1', version: '1.1' }],
      rows: Array.from({ length: 500 }, (_, at) => ({
        operation: at,
        client: 0,
        count: 1,
        errors: 0,
        durations: [1, ...new Array(17).fill(0)],
      })),
    });
    const started = performance.now();
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const { status } = await fetch(`${registry.url}/usage/${ENVIRONMENT}`, { method: 'POST', headers, body });
    if (status !== 200) throw new Error(`The registry answered a report with ${status}`);
    times.push(performance.now() - started);
  }
  return times.sort((a, b) => a - b)[Math.floor(REPEATS / 2)];
}

/** Returns the median time of a check that removes a field which some operations use. */
async function measureCheck(registry, { environment, days }) {
  const query = `mutation ($input: CheckSubgraphsInput!) { checkSubgraphs(input: $input) { verdict usage { operations isComplete }
    changes { coordinate verdict affectedCount affected { name clients { name version percent } } } } }`;
  const times = [];
  for (let i = 0; i < 3; i++) {
    const input = { environment, subgraphs: [{ name: 'one', sdl: writeSdl(7) }], policy: { days } };
    const started = performance.now();
    const { checkSubgraphs: check } = await ask(registry, query, { input });
    times.push(performance.now() - started);
    const isRight =
      environment === EMPTY ? check.usage === null : check.usage.operations === OPERATIONS && check.changes[0].affectedCount > 0;
    if (check.verdict !== 'FAILED' || !isRight) throw new Error(JSON.stringify(check));
  }
  console.log('checks', times.map(Math.round).join(' '));
  return times.sort((a, b) => a - b)[1];
}
