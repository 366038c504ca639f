/** `npm run roll [rolls] [clients]`: rolling restarts of two gateways and two bridges behind nginx, under load; fails when a request is lost. */
import { hasNginx } from '../e2e/dist/stack/processes/front.js';
import { rollUnderLoad } from '../e2e/dist/stack/rolling.js';
import { startStack } from '../e2e/dist/stack/stack.js';
import { withPostgres } from './postgres.mjs';

const [rolls = 20, clients = 8] = process.argv.slice(2).map(Number);
let lost = 1;
await withPostgres({ onLog: () => undefined }, async () => {
  const stack = await startStack();
  try {
    const author = await stack.createAccount('Roller');
    const onRoll = (roll, { writes, failures }) =>
      console.log(`roll ${String(roll)} of ${String(rolls)}: ${String(writes)} writes, ${String(failures.length)} failures`);
    const { reads, writes, failures } = await rollUnderLoad({ stack, author, rolls, clients, delayMs: 1000, onRoll });
    const [{ count }] = await stack.sql('content', 'SELECT count(*) FROM posts WHERE "authorId" = $1', [author.id]);
    console.log(
      `${hasNginx ? 'nginx' : 'proxy'}: ${String(reads)} reads, ${String(writes)} writes, ${count} rows, ${String(failures.length)} failures`,
    );
    for (const failure of failures.slice(0, 20)) console.log(failure);
    lost = failures.length + Math.abs(Number(count) - writes);
  } finally {
    await stack.stop();
  }
});
process.exit(lost === 0 ? 0 : 1);
