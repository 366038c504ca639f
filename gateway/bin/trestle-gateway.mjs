#!/bin/sh
':'; // 2>/dev/null; exec node --env-file="$(dirname "$(readlink -f "$0")")/../../packages/service/node.env" "$0" "$@"
/**
 * The command `trestle-gateway`. It stands apart from the build, so that npm can link it before anything is built.
 * The second line is for the shell: it starts Node.js with the options of every process, which can't be set any more once Node.js runs.
 */
import { existsSync } from 'node:fs';
import { clearInterval, setInterval } from 'node:timers';

const main = new URL('../dist/main.js', import.meta.url);
if (!existsSync(main)) fail('The gateway is not built yet: npm run build');
if (process.env.npm_command === 'exec') endWithParent();
try {
  await import(main);
} catch (error) {
  fail(error.message);
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

/** npx passes SIGTERM on to its shell, which ends without a word to us. */
function endWithParent() {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 100);
  watch.unref();
}
