/** Finds the files of the package. This file lies in the first folder of the package: in `src`, in `dist`, or in a bundle in `dist`. */
import { readFileSync } from 'node:fs';

/** Returns the URL of a file of the package, such as `dist/graphiql/manifest.json`. */
export function toPackageUrl(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}

/** Returns the version of the package. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(toPackageUrl('package.json'), 'utf8')) as { version: string };
  return version;
}
