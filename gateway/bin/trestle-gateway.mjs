#!/usr/bin/env sh
':'; // 2>/dev/null; own="$(dirname "$(readlink -f "$0")")/.."; export MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-4194304}"; exec node --env-file="$(ls "$own/node.env" "$own/../packages/service/node.env" 2>/dev/null | head -n 1)" "$0" "$@"
/**
 * The command `trestle-gateway`. It is not built, so that npm can link it before the build. The second line is for the shell: it starts Node.js with
 * the options of every process, which cannot be set after Node.js has started: `node.env` of the package, in the repository that of packages/service,
 * and the setting of glibc's memory allocator that node.env describes.
 * In the repository it runs the bundle, which starts in a third of the time (bundle.mjs); the package is a bundle itself.
 */
import { existsSync } from 'node:fs';
import { clearInterval, setInterval } from 'node:timers';

const main = ['../dist/bundle/main.js', '../dist/main.js'].map((path) => new URL(path, import.meta.url)).find((url) => existsSync(url));
if (!main) fail('The gateway is not built. Run `npm run build`.');
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

/** Ends the process with its parent: npx sends SIGTERM to its shell, which ends without forwarding it. */
function endWithParent() {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 100);
  watch.unref();
}
