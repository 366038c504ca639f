/** `npm run search:rebuild`: has a content process build the search index anew, while searches go on. */
import { setTimeout as delay } from 'node:timers/promises';
import { withClient } from '@trestle/postgres/client';
import { BUILD_LOCK } from '../search/build.ts';
import { readRebuildConfig } from './config.ts';
import { USAGE, parseArguments } from './arguments.ts';

interface Build {
  readonly isDone: boolean;
  readonly isRunning: boolean;
  readonly failure: string | null;
}

const POLL_MS = 500;

/** Exit codes: 1 when the index was not built, 2 for invalid arguments. */
try {
  const args = parseArguments(process.argv.slice(2));
  if (args === 'help') process.stdout.write(`${USAGE}\n`);
  else await run(args.timeoutSeconds);
} catch (error) {
  const isUsage = (error as { code?: unknown }).code?.toString().startsWith('ERR_PARSE_ARGS') ?? false;
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}${isUsage ? `\n\n${USAGE}` : ''}\n`);
  process.exitCode = isUsage ? 2 : 1;
}

async function run(timeoutSeconds: number): Promise<void> {
  await withClient((await readRebuildConfig()).url, async (client) => {
    await client.query('UPDATE "search_builds" SET "requestedAt" = clock_timestamp(), "failure" = NULL');
    const deadline = Date.now() + timeoutSeconds * 1000;
    for (let wasRunning = false; ;) {
      const { rows } = await client.query<Build>(
        `SELECT coalesce("builtAt" >= "requestedAt", false) AS "isDone", "failure",
           EXISTS (SELECT FROM pg_locks WHERE "locktype" = 'advisory' AND "objid" = $1 AND "database" =
             (SELECT "oid" FROM pg_database WHERE "datname" = current_database())) AS "isRunning"
         FROM "search_builds"`,
        [BUILD_LOCK],
      );
      const [build] = rows;
      if (build?.isDone) break;
      if (build?.failure != null) throw new Error(`The search index could not be built: ${build.failure}. The process tries again.`);
      if (build?.isRunning && !wasRunning) process.stdout.write('The search index is being built. Searches use the old one meanwhile.\n');
      wasRunning ||= build?.isRunning === true;
      if (Date.now() > deadline) throw new Error(toTimeout(wasRunning, timeoutSeconds));
      await delay(POLL_MS);
    }
  });
  process.stdout.write('The search index was built, and is used from now on.\n');
}

function toTimeout(wasRunning: boolean, seconds: number): string {
  if (wasRunning) return `The search index is still being built after ${String(seconds)} seconds. It goes on in the content process.`;
  return `No content process has begun within ${String(seconds)} seconds. The request is kept: one that starts later builds the index.`;
}
