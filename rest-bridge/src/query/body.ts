/** Reads a JSON body as a GraphQL input; the names and types of its fields come from the schema (spec §4.1, §7.2). No I/O. */
import type { FieldFault } from '@trestle/schema/errors';
import { type GraphQLInputField, type GraphQLSchema, isInputObjectType, isRequiredInputField } from 'graphql';
import type { Resource } from '../reply/resource.ts';
import { readJson } from './values.ts';

export interface BodyRule {
  readonly input: string;
  readonly mode: 'create' | 'replace' | 'merge';
  readonly resource: Resource;
  /** What a replacement must have. */
  readonly required?: readonly string[];
  /** What a replacement clears when it leaves it out. */
  readonly cleared?: readonly string[];
}

type Body = Record<string, unknown>;

/** The reader adds a fault for each field that is missing, unknown or of the wrong type. */
export function createBodyReader(
  schema: GraphQLSchema,
  { input, mode, resource, required, cleared = [] }: BodyRule,
): (body: unknown, faults: FieldFault[]) => Body {
  const type = schema.getType(input);
  if (!isInputObjectType(type)) throw new Error(`The schema has no input type ${input}`);
  const fields = type.getFields();
  const mustHave =
    required ??
    Object.values(fields)
      .filter(isRequiredInputField)
      .map(({ name }) => name);
  // Whoever replaces sends back what he got: what can't be written is passed over there, and only there.
  const ignored = new Set(mode === 'replace' ? [...Object.keys(resource.fields), '_links', '_masked'] : []);

  return (body, faults) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      faults.push({ field: '', message: 'the body must be a JSON object' });
      return {};
    }
    const given = body as Body;
    for (const name of mustHave) if (given[name] === undefined) faults.push({ field: name, message: 'is required' });
    const read = Object.entries(given).flatMap(([name, value]) =>
      readField(name, value, { field: Object.hasOwn(fields, name) ? fields[name] : undefined, ignored, faults }),
    );
    return { ...(mode === 'replace' && Object.fromEntries(cleared.map((name) => [name, null]))), ...Object.fromEntries(read) };
  };
}

interface FieldRule {
  readonly field: GraphQLInputField | undefined;
  readonly ignored: ReadonlySet<string>;
  readonly faults: FieldFault[];
}

function readField(name: string, value: unknown, { field, ignored, faults }: FieldRule): [string, unknown][] {
  if (!field) {
    if (!ignored.has(name)) faults.push({ field: name, message: 'is not a field that can be written' });
    return [];
  }
  const read = readJson(field.type, value);
  if ('value' in read) return [[name, read.value]];
  faults.push({ field: name, message: read.fault });
  return [];
}
