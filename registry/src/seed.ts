/** Publishes the subgraphs of this repository at the first start: `schema/` stays their source (REGISTRY_SEED). */
import type { Log } from '@trestle/log';
import { SUBGRAPHS, SUBGRAPH_NAMES } from '@trestle/schema/subgraphs';
import { readSubgraphSdl } from '@trestle/schema/sdl';
import type { Registry } from './api/context.ts';
import { publish } from './publishing/publish.ts';
import { createStore } from './store.ts';

const ENVIRONMENT = 'prod';

/** Publishes `schema/*.graphql` to `prod`, unless the environment exists. Logs what does not compose, and never rejects. */
export async function publishSeed(registry: Registry, log: Log): Promise<void> {
  try {
    if (await createStore(registry.database.query).findCurrentRelease(ENVIRONMENT)) return;
    const subgraphs = SUBGRAPH_NAMES.map((name) => ({
      name,
      url: `http://localhost:${String(SUBGRAPHS[name].port)}/graphql`,
      sdl: readSubgraphSdl(name),
    }));
    const request = { environment: ENVIRONMENT, subgraphs, deleted: [], expectedRelease: 0, message: 'The first start', actor: 'seed' };
    const { problems } = await publish(request, registry);
    for (const { code, message } of problems) log.error(`the subgraphs of schema/ do not compose: ${code} ${message}`);
  } catch (error) {
    log.error('the subgraphs of schema/ could not be published', { error });
  }
}
