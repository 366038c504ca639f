/** Directives for operations that subgraphs compose by `@composeDirective`, used by clients of the real gateway. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const link = (version: string) => `extend schema
  @link(url: "https://directives.example/tone/${version}", import: [{ name: "@tone", as: "@voice" }, "@owner"])
  @composeDirective(name: "@voice") @composeDirective(name: "@owner")
  directive @owner(team: String!) on FIELD_DEFINITION
  enum Voice { LOUD SOFT }
`;

let federation: Federation;
beforeAll(async () => {
  federation = await startFederation({
    greetings: {
      sdl: `${link('v1.0')} directive @voice(as: Voice!, times: Int) on FIELD | INLINE_FRAGMENT
        type Query { greeting: String @owner(team: "support") }`,
      resolvers: { Query: { greeting: () => 'hello' } },
    },
    farewells: {
      sdl: `${link('v1.1')} directive @voice(as: Voice! = SOFT, times: Int) on FIELD | INLINE_FRAGMENT
        type Query { farewell: String }`,
      resolvers: { Query: { farewell: () => 'bye' } },
    },
  });
});
afterAll(() => federation.stop());

const ask = async (query: string, variables?: Record<string, unknown>) => {
  federation.received.length = 0;
  const { body } = await federation.ask(query, variables);
  return { body, sent: federation.received.map(({ query: text }) => text.replace(/[\s,]/g, '')).sort() };
};

describe('a directive for operations that subgraphs compose', () => {
  // GraphQL §5.7.1: directives that a server supports are those of its schema.
  it('is known to the gateway and passed to the subgraphs with what the client gives', async () => {
    const { body, sent } = await ask('query ($as: Voice!) { greeting @voice(as: $as, times: 2) farewell }', { as: 'LOUD' });
    expect(body).toEqual({ data: { greeting: 'hello', farewell: 'bye' } });
    expect(sent).toContainEqual(expect.stringContaining('greeting@voice(as:$astimes:2)'));
  });

  // GraphQL §6.4.1: an argument without a value takes the default value of its definition, and here clients see the latest definition.
  it('is passed with its default value, which a subgraph may not know', async () => {
    const { body, sent } = await ask('{ greeting @voice ... @voice(times: 3) { farewell } }');
    expect(body).toEqual({ data: { greeting: 'hello', farewell: 'bye' } });
    expect(sent.join()).toContain('greeting@voice(as:SOFT)');
    expect(sent.join()).toContain('@voice(times:3as:SOFT)');
  });

  it('is in what introspection shows, without directives of the schema alone', async () => {
    const { body } = await ask('{ __schema { directives { name } } }');
    const { directives } = body.data?.['__schema'] as { directives: { name: string }[] };
    expect(directives.map(({ name }) => name)).toContain('voice');
    expect(directives.map(({ name }) => name)).not.toContain('owner');
  });

  it('is refused where its arguments are wrong', async () => {
    const { body } = await ask('{ greeting @voice(as: WHISPERED) }');
    expect(body.errors?.[0]).toMatchObject({ extensions: { code: 'VALIDATION_ERROR' } });
  });
});
