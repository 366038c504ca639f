/** What events cost a subgraph that writes: mutations at 32 connections, to two content processes, one of which writes no events. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTestGrant } from '@trestle/identity/tokens/test-identity';
import { createTokenIssuer, generateTokenKeys } from '@trestle/identity/tokens/tokens';
import { createTestDatabase } from '@trestle/postgres/test-database';
import pg from 'pg';
import { createProcesses } from '../processes.mjs';

const POST = 'pst_01m7ybgss0v3x9c2k7q4n8d5ra';
const BODY = JSON.stringify({ query: `mutation { createComment(input: { postId: "${POST}", body: "Well said." }) { id } }` });
const CONTENT = fileURLToPath(new URL('../../subgraphs/content/dist/bundle/main.js', import.meta.url));
const NO_EVENTS = '?options=-c%20trestle.events%3Doff';

/** Returns the mutations in a second, with and without events, for each round. The two processes take turns, each on a database of its own. */
export async function measureMutations(adminUrl, { rounds, roundMs, connections }) {
  const home = await mkdtemp(join(tmpdir(), 'trestle-bench-'));
  const processes = createProcesses();
  const databases = [];
  try {
    const { publicKeyPem, privateKeyPem } = generateTokenKeys();
    await writeFile(join(home, 'public.pem'), publicKeyPem);
    const { token } = createTokenIssuer({ privateKeyPem }).issue(createTestGrant({ id: 'usr_1' }));
    const start = async (name, options) => {
      const database = await createTestDatabase({ subgraph: 'content', adminUrl });
      databases.push(database);
      await addPost(database.url);
      const own = { CONTENT_PORT: '0', DATABASE_CONNECTIONS: String(connections), FILES_DIR: join(home, name), LOG_LEVEL: 'info' };
      const env = { ...own, TOKEN_PUBLIC_KEY_FILE: join(home, 'public.pem'), CONTENT_DATABASE_URL: `${database.url}${options}` };
      return processes.spawn(process.execPath, { args: [CONTENT], env });
    };
    const [without, within] = [await start('without', NO_EVENTS), await start('with', '')];
    const load = { token, connections, roundMs };
    const rates = [];
    for (let round = 0; round <= rounds; round++) {
      const rate = { without: await write(without, load), with: await write(within, load) };
      // The first round does not count.
      if (round > 0) rates.push(rate);
    }
    return rates;
  } finally {
    processes.endAll();
    await Promise.all(databases.map((database) => database.drop()));
    await rm(home, { recursive: true, force: true });
  }
}

async function addPost(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`INSERT INTO posts (id, "authorId", title, status) VALUES ('${POST}', 'usr_1', 'T', 'PUBLISHED')`);
  await client.end();
}

/** Sends mutations for a round, each connection one after another. Returns how many were answered in a second. */
async function write({ port }, { token, connections, roundMs }) {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const begin = performance.now();
  let count = 0;
  const writer = async () => {
    for (; performance.now() - begin < roundMs; count++) {
      const response = await fetch(`http://127.0.0.1:${port}/graphql`, { method: 'POST', headers, body: BODY });
      const { data, errors } = await response.json();
      if (!data?.createComment) throw new Error(`A mutation failed: ${JSON.stringify(errors)}`);
    }
  };
  await Promise.all(Array.from({ length: connections }, writer));
  return (count * 1000) / (performance.now() - begin);
}
