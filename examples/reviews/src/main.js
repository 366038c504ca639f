/** The process: migrates its database, then serves until a signal stops it. */
import pg from 'pg';
import { createFindCaller } from './caller.js';
import { readConfig } from './config.js';
import { migrate } from './migrate.js';
import { createReviewsServer } from './server.js';
import { createStore } from './store.js';

const { databaseUrl, host, port, jwksUrl } = readConfig(process.env);
const pool = new pg.Pool({ connectionString: databaseUrl, max: 10, statement_timeout: 10_000 });
pool.on('error', (error) => console.error(`A connection to the database was lost: ${error.message}`));
await migrate(pool);
const server = createReviewsServer({ store: createStore(pool), findCaller: createFindCaller(jwksUrl) });
server.listen(port, host, () => console.log(`reviews listens on http://${host}:${server.address().port}/graphql`));
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, () => {
    server.close(() => void pool.end());
    server.closeIdleConnections();
  });
}
