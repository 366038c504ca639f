#!/usr/bin/env node
/** The command `trestle-gateway`. It stands apart from the build, so that npm can link it before anything is built. */
import { existsSync } from 'node:fs';

const main = new URL('../dist/main.js', import.meta.url);
if (!existsSync(main)) fail('The gateway is not built yet: npm run build');
try {
  await import(main);
} catch (error) {
  fail(error.message);
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
