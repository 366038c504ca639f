/** Sends fetches to random subgraphs without a network, and spoils their responses. */
import type { SendFetch } from '#gateway/execute/execute';
import { readResponse } from '#gateway/upstream/subgraph-response';
import type { SubgraphRequest, Subgraphs } from '../subgraphs.ts';
import { type Spoiler, nameEntities } from './spoil.ts';

export interface Sending {
  readonly subgraphs: Subgraphs;
  readonly spoiler: Spoiler;
  readonly reject: (error: Error) => void;
}

/** Returns what sends the fetches of an execution, as the client of subgraphs does: bodies are lent, and overwritten afterwards. */
export function createSend({ subgraphs, spoiler, reject }: Sending): SendFetch {
  return ({ service, body, take }, done) => {
    const request = JSON.parse(body) as SubgraphRequest;
    subgraphs(service, request).then(
      (answer) => {
        const value = spoiler.value?.(answer as never, service, nameEntities(request)) ?? (answer as never);
        const bytes = Buffer.from(spoiler.text?.(value, service) ?? JSON.stringify(value));
        const lent = Buffer.concat([Buffer.from('head'), bytes, Buffer.from('tail')]);
        const taken = take?.(lent, 4, 4 + bytes.length);
        lent.fill(0xfe);
        const result = taken ?? readResponse({ status: 200, contentType: undefined, text: bytes.toString() });
        if (result) done(null, result);
        else done({ code: 'UPSTREAM_ERROR', message: 'no result', cause: undefined }, {});
      },
      (error: unknown) => {
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  };
}
