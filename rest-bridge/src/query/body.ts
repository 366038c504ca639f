/** Reads a JSON body as a GraphQL input; the names and types of its fields come from the schema (spec §4.1, §7.2). No I/O. */
import type { FieldFault } from '@trestle/schema/errors';
import { type GraphQLInputField, isInputObjectType, isRequiredInputField } from 'graphql';
import type { Resource } from '../reply/resource.ts';
import type { ReaderContext, RowRequest } from './reading.ts';
import { moneyInputs, toFirstVersion } from '../versions/transform.ts';
import { readJson } from './values.ts';

export interface BodyRule {
  readonly input: string;
  readonly mode: 'create' | 'replace' | 'merge';
  readonly resource: Resource;
  /** What a replacement must have. */
  readonly required?: readonly string[];
  /** What a replacement clears when it leaves it out, and to what. */
  readonly cleared?: Readonly<Record<string, unknown>>;
  /** Fields that the path gives, by their names there: `{postId: 'id'}`. They can't be sent. */
  readonly fromPath?: Readonly<Record<string, string>>;
}

type Body = Record<string, unknown>;

/** The fields of a body, as its version has them: which can be sent, and which must be. */
export function readableFields({ schema, version }: ReaderContext, { input, required, fromPath = {} }: BodyRule) {
  const type = schema.getType(input);
  if (!isInputObjectType(type)) throw new Error(`The schema has no input type ${input}`);
  const fields = new Map(Object.entries(type.getFields()).filter(([name]) => !Object.hasOwn(fromPath, name)));
  const replaced = moneyInputs(input, version).map(({ currency }) => currency);
  const mustHave = (required ?? [...fields.values()].filter(isRequiredInputField).map(({ name }) => name)).filter(
    (name) => !replaced.includes(name) && !Object.hasOwn(fromPath, name),
  );
  return { fields, mustHave };
}

/** The reader adds a fault for each field that is missing, unknown or of the wrong type. */
export function createBodyReader(
  context: ReaderContext,
  rule: BodyRule,
): (request: Pick<RowRequest, 'body' | 'params'>, faults: FieldFault[]) => Body {
  const { input, mode, resource, cleared = {}, fromPath = {} } = rule;
  const { fields, mustHave } = readableFields(context, rule);
  const { version } = context;
  // Whoever replaces sends back what he got: what can't be written is passed over there, and only there.
  const ignored = new Set(mode === 'replace' ? [...Object.keys(resource.fields), '_links', '_masked'] : []);
  const given = Object.entries(fromPath);

  return ({ body, params }, faults) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      faults.push({ field: '', message: 'the body must be a JSON object' });
      return {};
    }
    const sent = toFirstVersion(body as Body, { input, version, faults });
    for (const name of mustHave) if (sent[name] === undefined) faults.push({ field: name, message: 'is required' });
    const read = Object.entries(sent).flatMap(([name, value]) => readField(name, value, { field: fields.get(name), ignored, faults }));
    return {
      ...(mode === 'replace' && cleared),
      ...Object.fromEntries(read),
      ...Object.fromEntries(given.map(([name, param]) => [name, params[param]])),
    };
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
