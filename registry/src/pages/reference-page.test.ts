import { describe, expect, it } from '@jest/globals';
import { buildSchema, isEnumType, isInputObjectType, isIntrospectionType, isObjectType, isSpecifiedScalarType } from 'graphql';
import { createRegistrySchema } from '../api/schema.ts';
import { toReferencePage } from './reference-page.ts';

describe('toReferencePage', () => {
  const schema = createRegistrySchema();
  const page = toReferencePage(schema);

  it('has a section for each type of the API, and an entry for each field, argument and value', () => {
    const own = Object.values(schema.getTypeMap()).filter((type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type));
    expect(own.map(({ name }) => name)).toEqual(expect.arrayContaining(['Query', 'Mutation', 'Contract', 'ContractInput', 'TokenScope']));
    for (const type of own) {
      const [, section = ''] = page.split(`<section id="${type.name}">`);
      const names = isEnumType(type)
        ? type.getValues().map(({ name }) => `<code>${name}</code>`)
        : isObjectType(type) || isInputObjectType(type)
          ? Object.keys(type.getFields()).map((name) => `<code>${name}: `)
          : [];
      for (const name of names) expect([type.name, section.split('</section>')[0]]).toEqual([type.name, expect.stringContaining(name)]);
    }
    expect(page).toContain('<code>first: Int = 20</code>');
  });

  it('links only to sections that it has', () => {
    const ids = new Set([...page.matchAll(/ id="(\w+)"/g)].map(([, id]) => id));
    for (const [, target] of page.matchAll(/href="#(\w+)"/g)) expect(ids).toContain(target);
  });

  it('escapes what descriptions contain', () => {
    expect(toReferencePage(buildSchema('"Compares <b> & `a < b`." type Query { "It." a: Int }'))).toContain(
      '<p>Compares &lt;b&gt; &amp; <code>a &lt; b</code>.</p>',
    );
  });
});
