#!/usr/bin/env node
/** The command `trestle-gateway`. It stands apart from the build, so that npm can link it before anything is built. */
import { existsSync } from 'node:fs';

const main = new URL('../dist/main.js', import.meta.url);
if (!existsSync(main)) {
  process.stderr.write('The gateway is not built yet: npm run build\n');
  process.exit(1);
}
await import(main);
