/** The process of the command `trestle`. */
import { readEnvironment } from './config.ts';
import { run } from './run.ts';
import { createTerminal } from './terminal.ts';

// A reader such as `head` may close the pipe: the rest is not written.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});
const env = readEnvironment();
process.exitCode = await run(process.argv.slice(2), env, createTerminal(process, env));
