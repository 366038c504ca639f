/** Finds the values of a representation in the object that has the entity's key (Federation subgraph specification, `_entities`). */
import { type GraphQLOutputType, isListType, isNonNullType } from 'graphql';
import type { RequiredSelection } from '../selections/requirements.ts';
import type { RequestedFetch } from './requested-fetch.ts';
import { type RequestedField, type RequestedObject, Unsupported } from './requested-object.ts';

/** A representation that is being written: texts with a register between each two. */
interface Draft {
  readonly texts: string[];
  readonly registers: number[];
  text: string;
  readonly owner: RequestedFetch;
  /** Names of fields without which there is no entity. */
  readonly keys: ReadonlySet<string>;
}

/**
 * Returns the registers of the owner's walker that hold the places of the values, in the order of the representation. Sets the representation of
 * the type. Throws Unsupported when a value stands elsewhere.
 */
export function requireKey(fetch: RequestedFetch, object: RequestedObject, owner: RequestedFetch): number[] {
  const { requires = [], keysOf } = fetch.source;
  const name = object.type.name;
  const applying = requires.find((each) => each.kind === 'InlineFragment' && each.typeCondition === name);
  const top = fetch.tops.find((each) => each.object.type.name === name);
  if (applying?.kind !== 'InlineFragment' || !top) throw new Unsupported('a key of an unknown type');
  const keys = keysOf(name);
  const fields = new Set(applying.selections.flatMap((each) => (each.kind === 'Field' ? [each.name] : [])));
  if (keys.length > 0 && !keys.some((key) => key.every((field) => fields.has(field))))
    throw new Unsupported('a representation without a key');
  const draft: Draft = {
    texts: [],
    registers: [],
    text: `{"__typename":${JSON.stringify(name)}`,
    owner,
    keys: new Set([...keys.flat(), ...(fetch.source.step.entities?.key ? [fetch.source.step.entities.key.name] : [])]),
  };
  for (const each of applying.selections) if (!isTypename(each)) writeMember(draft, object, { selection: each, before: ',' });
  top.representation = { texts: [...draft.texts, `${draft.text}}`] };
  return draft.registers;
}

/** Returns the response keys that a representation needs and the object does not have. */
export function missingKeys({ source: { requires = [] } }: RequestedFetch, { type, fields }: RequestedObject): string[] {
  const applying = requires.find((each) => each.kind === 'InlineFragment' && each.typeCondition === type.name);
  if (applying?.kind !== 'InlineFragment') return [];
  return applying.selections.flatMap((each) => {
    const key = each.kind === 'Field' && !isTypename(each) ? (each.alias ?? each.name) : undefined;
    return key === undefined || fields.has(key) ? [] : [key];
  });
}

function writeMember(draft: Draft, object: RequestedObject, { selection, before }: { selection: RequiredSelection; before: string }): void {
  if (selection.kind !== 'Field' || selection.neededWhen) throw new Unsupported('a requirement with conditions');
  if (isTypename(selection)) {
    draft.text += `${before}"__typename":${JSON.stringify(object.type.name)}`;
    return;
  }
  const field = object.fields.get(selection.alias ?? selection.name);
  if (!field || field.when.length > 0) throw new Unsupported('a requirement from another fetch');
  draft.text += `${before}${JSON.stringify(selection.name)}:`;
  if (draft.keys.has(selection.name) || selection.selections) field.isNeverNull = true;
  if (selection.selections) writeObject(draft, field, selection.selections);
  else writeLeaf(draft, field);
}

function writeObject(draft: Draft, field: RequestedField, selections: readonly RequiredSelection[]): void {
  const [object, ...others] = field.cases;
  if (!object || others.length > 0 || field.isAbstract || isList(field.type))
    throw new Unsupported('a requirement of lists or abstract types');
  draft.text += '{';
  selections.forEach((selection, i) => {
    writeMember(draft, object, { selection, before: i > 0 ? ',' : '' });
  });
  draft.text += '}';
}

function writeLeaf(draft: Draft, field: RequestedField): void {
  if (field.cases.length > 0 || field.name === '__typename') throw new Unsupported('a requirement without its fields');
  field.register ??= draft.owner.registers++;
  draft.registers.push(field.register);
  // The walker notes the place of an ID without its quotes.
  const quote = isIdType(field.type) ? '"' : '';
  if (quote !== '') field.isNeverNull = true;
  draft.texts.push(`${draft.text}${quote}`);
  draft.text = quote;
}

/** Whether the values of a type are IDs, and not lists of them. */
export function isIdType(type: GraphQLOutputType | undefined): boolean {
  return type !== undefined && String(isNonNullType(type) ? type.ofType : type) === 'ID';
}

function isTypename(selection: RequiredSelection): boolean {
  return selection.kind === 'Field' && selection.name === '__typename';
}

function isList(type: GraphQLOutputType | undefined): boolean {
  return type !== undefined && isListType(isNonNullType(type) ? type.ofType : type);
}
