import { createRequire } from 'node:module';
import { describe, expect, it } from '@jest/globals';
import { EVENT_TYPE_NAMES } from '@trestle/schema/event-types';
import { readApiSdl } from '@trestle/schema/sdl';
import { Ajv } from 'ajv';
import { buildSchema } from 'graphql';
import { createAsyncApi } from './document.ts';

const schema = buildSchema(readApiSdl());
const asyncApiSchema = createRequire(import.meta.url)('@asyncapi/specs/schemas/3.0.0.json') as object;

describe('the AsyncAPI document', () => {
  it('is valid by the JSON Schema of AsyncAPI 3', () => {
    const validate = new Ajv({ strict: false, validateFormats: false, meta: false, validateSchema: false }).compile(asyncApiSchema);
    for (const addresses of [{}, { bridge: 'http://localhost:3000', gateway: 'http://localhost:4000/graphql' }]) {
      expect([validate(JSON.parse(JSON.stringify(createAsyncApi(schema, addresses)))), validate.errors]).toEqual([true, null]);
    }
  });

  it('describes every type of events and every subscription', () => {
    const { components, channels } = createAsyncApi(schema) as unknown as Record<'components' | 'channels', Record<string, object>>;
    const fields = Object.keys(schema.getSubscriptionType()?.getFields() ?? {});
    expect(Object.keys(components['messages'] ?? {}).sort()).toEqual([...EVENT_TYPE_NAMES, ...fields].sort());
    expect(Object.keys(channels).sort()).toEqual(['events', 'webhooks', ...fields].sort());
  });

  it('describes events in sentences that begin with capitals', () => {
    const { components } = createAsyncApi(schema) as {
      readonly components: { readonly schemas: Readonly<Record<string, { description?: string }>> };
    };
    const descriptions = EVENT_TYPE_NAMES.map((name) => components.schemas[name]?.description ?? '');
    for (const description of descriptions) expect(description).toMatch(/^[A-Z].*\. For .*\.$/);
    expect(descriptions.filter((description) => /\. [a-z]| For .* For /.test(description))).toEqual([]);
  });

  it('names the path of the gateway as the address of subscriptions', () => {
    const { channels } = createAsyncApi(schema, { gateway: 'https://graphql.example.com/api/query' }) as unknown as {
      readonly channels: Readonly<Record<string, { readonly address: string }>>;
    };
    const addresses = Object.keys(schema.getSubscriptionType()?.getFields() ?? {}).map((name) => channels[name]?.address);
    expect(new Set(addresses)).toEqual(new Set(['/api/query']));
  });

  it('refers to nothing that does not exist', () => {
    const document = createAsyncApi(schema) as Record<string, unknown>;
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path ?? '');
    expect(references.length).toBeGreaterThan(0);
    const resolve = (path: string) =>
      path.split('/').reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], document);
    expect(references.filter((path) => resolve(path) === undefined)).toEqual([]);
  });
});
