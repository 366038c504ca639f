/** traffic.retryStatuses: a query is sent to a subgraph again after its 503, and a mutation is not. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readMetric } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const sources = {
  harbours: {
    sdl: 'type Query { harbour: String } type Mutation { dredge: String }',
    resolvers: { Query: { harbour: () => 'Hamburg' }, Mutation: { dredge: () => 'dredged' } },
  },
};

describe.each(['lean', 'undici'])('with traffic.retryStatuses and the client %s', (client) => {
  let federation: Federation;
  /** How many requests the subgraph answers with 503. */
  let failing: number;
  beforeEach(async () => {
    failing = 0;
    const env = { SUBGRAPH_RETRY_STATUSES: '502,503,504', UPSTREAM_CLIENT: client };
    federation = await startFederation(sources, { env });
    federation.intercept = (_, __, response) => {
      if (failing-- <= 0) return undefined;
      response.statusCode = 503;
      response.setHeader('retry-after', '0');
      return {};
    };
  });
  afterEach(() => federation.stop());

  it('answers a query by a second request, and fails a mutation after one', async () => {
    failing = 1;
    expect((await federation.ask('{ harbour }')).body).toEqual({ data: { harbour: 'Hamburg' } });
    expect(federation.received).toHaveLength(2);
    expect(await readMetric(federation.gateway.url, 'trestle_subgraph_request_retries_total{subgraph="harbours"}')).toBe(1);
    failing = 1;
    const { body } = await federation.ask('mutation { dredge }');
    expect(body.errors).toMatchObject([{ path: ['dredge'], extensions: { code: 'UPSTREAM_ERROR', service: 'harbours' } }]);
    expect(federation.received).toHaveLength(3);
  });

  it('fails a query whose second request is answered with 503 too', async () => {
    failing = 2;
    const { body } = await federation.ask('{ harbour }');
    expect(body).toMatchObject({ data: { harbour: null }, errors: [{ extensions: { code: 'UPSTREAM_ERROR' } }] });
    expect(federation.received).toHaveLength(2);
  });
});
