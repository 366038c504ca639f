/** Parses a JSON body as a GraphQL input; the schema gives the names and types of its fields (spec §4.1, §7.2). No I/O. */
import type { FieldFault } from '@trestle/schema/errors';
import { type GraphQLInputField, isInputObjectType, isRequiredInputField } from 'graphql';
import { type BodyNames, moneyInputs, toFirstVersion } from '../versions/money-input.ts';
import type { ReaderContext, ReaderInput } from './request-reader.ts';
import { parseJsonValue } from './values.ts';

/** How a route reads its body. */
export interface BodyRule {
  /** The name of the GraphQL input type. */
  readonly input: string;
  readonly mode: 'create' | 'replace' | 'merge';
  /** The resource of the route, whose read-only fields and related resources a replacement may contain. */
  readonly resource: { readonly fields: Readonly<Record<string, unknown>>; readonly include: Readonly<Record<string, unknown>> };
  /** Fields that a replacement must contain; by default those that the input type requires. */
  readonly required?: readonly string[];
  /** Fields that a replacement clears when it omits them, with their cleared values. */
  readonly cleared?: Readonly<Record<string, unknown>>;
  /** Input fields whose values come from the path, with the names of the segments: `{postId: 'id'}`. A body cannot contain them. */
  readonly fromPath?: Readonly<Record<string, string>>;
}

type Body = Record<string, unknown>;

/** Returns the fields that a body may contain in the version of `context`, and the names of those that it must contain. */
export function writableFields({ schema, version }: ReaderContext, { input, required, fromPath = {} }: BodyRule) {
  const type = schema.getType(input);
  if (!isInputObjectType(type)) throw new Error(`The schema has no input type ${input}`);
  const fields = new Map(Object.entries(type.getFields()).filter(([name]) => !Object.hasOwn(fromPath, name)));
  const replaced = moneyInputs(input, version).map(({ currency }) => currency);
  const requiredNames = (required ?? [...fields.values()].filter(isRequiredInputField).map(({ name }) => name)).filter(
    (name) => !replaced.includes(name) && !Object.hasOwn(fromPath, name),
  );
  return { fields, requiredNames };
}

/** A body as a GraphQL input. */
export interface ParsedBody {
  readonly input: Body;
  /** The names that its fields have in the body, where they differ. */
  readonly names: BodyNames;
}

/** Creates the parser of a body. It adds a fault for each field that is missing, unknown, read-only or of the wrong type. */
export function createBodyParser(
  context: ReaderContext,
  rule: BodyRule,
): (request: Pick<ReaderInput, 'body' | 'params'>, faults: FieldFault[]) => ParsedBody {
  const { input, mode, resource, cleared = {}, fromPath = {} } = rule;
  const { fields, requiredNames } = writableFields(context, rule);
  const { version } = context;
  // A client replaces a resource by sending back what it received, so that a replacement may contain read-only members.
  const ignored = new Set(
    mode === 'replace' ? [...Object.keys(resource.fields), ...Object.keys(resource.include), '_links', '_masked'] : [],
  );
  const pathFields = Object.entries(fromPath);

  return ({ body, params }, faults) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      faults.push({ field: '', message: 'request body must be a JSON object' });
      return { input: {}, names: {} };
    }
    const { body: sent, names } = toFirstVersion(body as Body, { input, version, faults });
    for (const name of requiredNames) if (sent[name] === undefined) faults.push({ field: name, message: 'is required' });
    const parsed = Object.entries(sent).flatMap(([name, value]) =>
      parseField(name, value, { field: fields.get(name), sentName: names[name] ?? name, ignored, faults }),
    );
    return {
      names,
      input: {
        ...(mode === 'replace' && cleared),
        ...Object.fromEntries(parsed),
        ...Object.fromEntries(pathFields.map(([name, param]) => [name, params[param]])),
      },
    };
  };
}

interface FieldRule {
  readonly field: GraphQLInputField | undefined;
  /** The name that the client knows. */
  readonly sentName: string;
  readonly ignored: ReadonlySet<string>;
  readonly faults: FieldFault[];
}

function parseField(name: string, value: unknown, { field, sentName, ignored, faults }: FieldRule): [string, unknown][] {
  if (!field) {
    if (!ignored.has(name)) faults.push({ field: name, message: 'is unknown or read-only' });
    return [];
  }
  const parsed = parseJsonValue(field.type, value, name);
  if ('value' in parsed) return [[name, parsed.value]];
  faults.push({ field: sentName, message: parsed.fault });
  return [];
}
