import { describe, expect, it } from '@jest/globals';
import { parseSupergraph } from './parse-supergraph.ts';

const BODY = 'type Query { a: Int }';

describe('parseSupergraph', () => {
  it.each([
    'schema @link(url: "https://specs.apollo.dev/link/v1.0") @link(url: "https://specs.apollo.dev/join/v0.5", for: EXECUTION) { query: Query }',
    'schema @core(feature: "https://specs.apollo.dev/join/v0.1") { query: Query }',
    'extend schema @link(url: "https://specs.apollo.dev/join/v0.3")',
  ])('takes a composed schema: %s', (schema) => {
    expect(parseSupergraph(`${schema} ${BODY}`).definitions).toHaveLength(2);
  });

  it.each([
    ['the place of a fault', 'type Query {\n  a: ', /^2:6: Syntax Error: Expected Name/],
    ['a schema without composition', BODY, /^This is not a supergraph: .*specs\.apollo\.dev\/join.*rover supergraph compose/],
    ['a schema that only names the specification', `# https://specs.apollo.dev/join/v0.5\n${BODY}`, /not a supergraph/],
    [
      'the schema of a subgraph',
      `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"]) ${BODY}`,
      /^This is the schema of one subgraph/,
    ],
  ])('throws and names %s', (_, sdl, message) => {
    expect(() => parseSupergraph(sdl)).toThrow(message);
  });
});
