import { readFileSync } from 'node:fs';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { describe, expect, it } from '@jest/globals';
import { type GraphQLSchema, buildASTSchema, parse, printSchema } from 'graphql';
import { compose } from './compose.ts';
import { readServedSdl, readSubgraphSdl } from './sdl.ts';
import { toServedSdl } from './served-sdl.ts';
import { SUBGRAPH_NAMES } from './subgraphs.ts';

/** Returns what a schema says of its types, with the directives that subgraphs enforce. */
const describeSchema = (schema: GraphQLSchema) => [
  printSchema(schema),
  ...[schema, ...Object.values(schema.getTypeMap())].flatMap(({ astNode, extensionASTNodes }) =>
    JSON.stringify([astNode, extensionASTNodes], (key, value: unknown) => (key === 'loc' ? undefined : value)),
  ),
];

describe.each(SUBGRAPH_NAMES)('served/%s.graphql', (name) => {
  const served = readServedSdl(name);

  it('is what composition writes for the file of the subgraph', () => {
    expect(served).toBe(toServedSdl(readSubgraphSdl(name)));
  });

  it('builds the schema that Apollo builds of the file', () => {
    const schema = buildASTSchema(parse(served, { noLocation: true }), { assumeValidSDL: true });
    expect(describeSchema(schema)).toEqual(describeSchema(buildSubgraphSchema({ typeDefs: parse(readSubgraphSdl(name)) })));
  });
});

describe('the schema in docs/subgraphs.md', () => {
  const page = readFileSync(new URL('../../docs/subgraphs.md', import.meta.url), 'utf8');
  const sdl = /title="schema\/reviews\.graphql"\n(.*?)^```/msu.exec(page)?.[1] ?? '';

  it('composes with those of the other subgraphs', () => {
    const others = SUBGRAPH_NAMES.map((name) => ({ name, url: `http://${name}`, file: name, sdl: readSubgraphSdl(name) }));
    expect(compose([...others, { name: 'reviews', url: 'http://reviews', file: 'reviews', sdl }])).toMatchObject({ ok: true });
  });

  it('can be built from what its process serves', () => {
    const schema = buildASTSchema(parse(toServedSdl(sdl), { noLocation: true }), { assumeValidSDL: true });
    expect(Object.keys(schema.getTypeMap())).toEqual(expect.arrayContaining(['Review', 'Product', 'User']));
  });
});
