/** Opens the source of supergraphs that the settings name. */
import type { RemoteSource } from '../configuration/choose-source.ts';
import { createHiveSource } from './hive-source.ts';
import { createRegistrySource } from './registry-source.ts';
import type { SupergraphSource } from './source.ts';
import { createUplinkSource } from './uplink-source.ts';
import { createUrlSource } from './url-source.ts';

/** Returns the source. It sends nothing before it is read. */
export function openSource(settings: RemoteSource): SupergraphSource {
  const { timeoutMs, maxBytes } = settings.polling;
  switch (settings.kind) {
    case 'url':
      return createUrlSource({ urls: [settings.url], headers: settings.headers, timeoutMs, maxBytes });
    case 'registry': {
      const { url, environment, contract, token, publicKey } = settings;
      return createRegistrySource({ url, environment, contract, token, publicKey, timeoutMs, maxBytes });
    }
    case 'hive':
      return createHiveSource({ endpoints: settings.endpoints, key: settings.key, timeoutMs, maxBytes });
    case 'uplink': {
      const { endpoints, graphRef, key } = settings;
      return createUplinkSource({ endpoints, graphRef, key, timeoutMs, maxBytes });
    }
  }
}
