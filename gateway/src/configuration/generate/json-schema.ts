/** Writes the JSON Schema of configuration files, for editors and other tools. */
import type { SettingForm } from '@trestle/env';
import { SCHEMA_KEY } from '../entries/schema-key.ts';
import type { ConfigurationNode, RulesNode, SectionNode, SettingNode } from '../entries/setting-tree.ts';

type Json = Record<string, unknown>;

/** Strings with a variable, which may stand for any value. */
const VARIABLE = { type: 'string', pattern: String.raw`\$\{` };
const MAX_ITEMS = 1000;

/** Returns the schema (draft-07, which all editors know). */
export function createJsonSchema(tree: SectionNode): Json {
  const root = toSchema(tree);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Configuration of trestle-gateway',
    ...root,
    properties: {
      [SCHEMA_KEY]: { type: 'string', description: 'The place of this schema, for editors.' },
      ...(root['properties'] as Json),
    },
  };
}

function toSchema(node: ConfigurationNode): Json {
  if (node.kind === 'setting') return toSettingSchema(node);
  if (node.kind === 'rules') return toRulesSchema(node);
  if (node.kind === 'named')
    return { type: ['object', 'null'], description: node.about, maxProperties: MAX_ITEMS, additionalProperties: toSchema(node.each) };
  return {
    type: ['object', 'null'],
    ...(node.about !== undefined && { description: node.about }),
    properties: Object.fromEntries([...node.children].map(([key, child]) => [key, toSchema(child)])),
    additionalProperties: false,
  };
}

const STRING = { type: 'string' };
const toRuleSchema = (schema: Json) => ({ type: 'object', ...schema, additionalProperties: false });
const RULE_SCHEMAS = [
  { required: ['propagate'], properties: { propagate: STRING, as: STRING, default: STRING } },
  { required: ['insert', 'value'], properties: { insert: STRING, value: STRING } },
  { required: ['remove'], properties: { remove: STRING } },
].map(toRuleSchema);
/** Only requests have a token. */
const CLAIM_SCHEMA = toRuleSchema({ required: ['insert', 'claim'], properties: { insert: STRING, claim: STRING, default: STRING } });

function toRulesSchema({ about, direction }: RulesNode): Json {
  const oneOf = direction === 'request' ? [...RULE_SCHEMAS, CLAIM_SCHEMA] : RULE_SCHEMAS;
  return { description: `${about} A change takes effect at the next start.`, type: 'array', maxItems: 100, items: { oneOf } };
}

function toSettingSchema({ form, about, defaultValue, effect, variables }: SettingNode): Json {
  const when = effect === 'now' ? 'A change takes effect at once.' : 'A change takes effect at the next start.';
  return {
    description: `${about} Environment: ${variables.join(', ')}. ${when}`,
    ...(isJson(defaultValue) && { default: defaultValue }),
    ...toValueSchema(form),
  };
}

function toValueSchema(form: SettingForm): Json {
  switch (form.kind) {
    case 'integer':
    case 'number':
      return { anyOf: [{ type: form.kind, minimum: form.minimum, maximum: form.maximum }, VARIABLE] };
    case 'boolean':
      return { anyOf: [{ type: 'boolean' }, VARIABLE] };
    case 'choice':
      return { anyOf: [{ enum: form.values }, VARIABLE] };
    case 'list':
      return toListSchema({ type: 'string', pattern: String.raw`^[^\s,]*$|\$\{` });
    case 'integers':
      return toListSchema({ anyOf: [{ type: 'integer', minimum: form.minimum, maximum: form.maximum }, VARIABLE] });
    case 'map':
      return { anyOf: [{ type: ['object', 'null'], additionalProperties: { type: 'string' }, maxProperties: MAX_ITEMS }, VARIABLE] };
    case 'url':
      return { anyOf: [{ type: 'string', pattern: `^$|^(?:${form.protocols.join('|')})//` }, VARIABLE] };
    case 'path':
    case 'string':
      return { type: 'string' };
  }
}

function toListSchema(items: Json): Json {
  return { anyOf: [{ type: 'array', items, maxItems: MAX_ITEMS }, VARIABLE] };
}

/** A default that is made by code, such as the empty list of proxies, is not shown. */
function isJson(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value) || Array.isArray(value);
}
