/** Reads the versions of the gateways from their packages. */
import { readFile } from 'node:fs/promises';

const PACKAGES = {
  '../../gateway/package.json': 'trestle',
  '../../node_modules/@apollo/gateway/package.json': '@apollo/gateway',
  '../../node_modules/@apollo/server/package.json': '@apollo/server',
  '../peers/node_modules/@graphql-hive/gateway/package.json': '@graphql-hive/gateway',
  '../peers/node_modules/@graphql-hive/router-runtime/package.json': '@graphql-hive/router-runtime',
  '../peers/node_modules/@mercuriusjs/gateway/package.json': '@mercuriusjs/gateway',
  '../peers/node_modules/mercurius/package.json': 'mercurius',
  '../peers/node_modules/@grafbase/cli-x86_64-unknown-linux-musl/package.json': 'grafbase',
};

/** Resolves with the name and version of each that is installed. */
export async function listVersions() {
  const versions = await Promise.all(
    Object.entries(PACKAGES).map(async ([path, name]) => {
      const text = await readFile(new URL(path, import.meta.url), 'utf8').catch(() => undefined);
      return text === undefined ? [] : [`${name} ${JSON.parse(text).version}`];
    }),
  );
  return versions.flat();
}
