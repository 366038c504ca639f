#!/usr/bin/env -S node --max-old-space-size=1024
/**
 * The command `trestle-gateway`. It stands apart from the build, so that npm can link it before anything is built.
 * Node lets a heap grow by what the machine has, without need: with a limit it is collected in time, at no cost (bench/README.md).
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
