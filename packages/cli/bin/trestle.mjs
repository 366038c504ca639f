#!/usr/bin/env node
/** The command `trestle`. It is not built, so that npm can link it before the build. */
import { existsSync } from 'node:fs';

const main = new URL('../dist/main.js', import.meta.url);
if (existsSync(main)) await import(main);
else {
  process.stderr.write('The command trestle is not built. Run `npm run build`.\n');
  process.exitCode = 70;
}
