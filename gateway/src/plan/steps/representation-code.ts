/** Generates the code that writes representations of entities (Federation subgraph specification, `_entities`). */
import type { FetchDataRewrite } from '@apollo/query-planner';
import { type GraphQLSchema, getNamedType, isInterfaceType, isObjectType } from 'graphql';
import type { EntityFetch } from '../../program/program.ts';
import { OWN, quote, read } from '../selections/literals.ts';
import type { RequiredField, RequiredSelection } from '../selections/requirements.ts';
import { ON, typesOf } from '../selections/type-names.ts';
import { conditionOf } from '../selections/field-positions.ts';

export interface RepresentationSource {
  readonly requires: readonly RequiredSelection[];
  readonly rewrites: readonly FetchDataRewrite[];
  /** The keys by which the subgraph resolves a type's entities, each as its fields. */
  readonly keysOf: (type: string) => readonly (readonly string[])[];
  /** The names that `__typename` of its entities may have; undefined for any. */
  readonly onlyFor?: ReadonlySet<string> | undefined;
}

/**
 * Generates the function that writes an entity's representation as JSON, or returns null when a required value is missing, and an empty
 * string when an ID is a number that may be another one than the subgraph sent. Its parameters are the entity and the values of the condition variables. Throws for unknown rewrites.
 */
export function generateRepresentation(schema: GraphQLSchema, { requires, rewrites, keysOf, onlyFor }: RepresentationSource): string {
  const conditions = requires.flatMap((each) =>
    each.kind === 'InlineFragment' && each.typeCondition !== undefined ? [each.typeCondition] : [],
  );
  const types = new Set(conditions.flatMap((name) => typesOf(schema, name)).filter((name) => onlyFor?.has(name) ?? true));
  const cases = [...types].map((type) => `case ${quote(type)}:{${writeRepresentation(schema, { type, requires, rewrites, keysOf })}}`);
  return `(()=>{${OWN}const str=${STR};${ID}${PICK}return (o,vars)=>{try{switch(o.__typename){${cases.join('')}}}catch(e){if(e!==UNSAFE)throw e;return '';}return null;}})()`;
}

const STR = `v=>{if(typeof v!=='string'||v.length>64)return JSON.stringify(v);for(let i=0;i<v.length;i++){const c=v.charCodeAt(i);if(c<32||c===34||c===92||c>126)return JSON.stringify(v);}return '"'+v+'"';}`;
/** Makes IDs strings (GraphQL §3.5.5). Throws UNSAFE for a number that JSON.parse may have changed: it would name another object. */
const ID = `const UNSAFE=Symbol();const id=v=>{if(typeof v!=='number')return Array.isArray(v)?v.map(id):v;if(!Number.isSafeInteger(v))throw UNSAFE;return ''+v;};`;
/**
 * Picks selections from a value. Returns NONE when a part was not fetched: it must not be sent as null, which is the value of a field. `isTop` is for
 * the entity itself. Merges the selections of fragments.
 */
const PICK = `const NONE=Symbol();const join=(a,b)=>{for(const k in b){const x=a[k],y=b[k];if(x&&y&&typeof x==='object'&&typeof y==='object'){if(Array.isArray(x))x.forEach((e,i)=>{if(e&&y[i]&&typeof e==='object')join(e,y[i]);});else join(x,y);}else a[k]=y;}};
const isNeeded=(ways,vars)=>ways.some(all=>all.every(c=>c.isTrue===(own(vars,c.variable)===true)));
const pick=(v,s,vars,isTop)=>{if(v==null||typeof v!=='object')return v??null;if(Array.isArray(v)){const r=[];for(const e of v){const x=pick(e,s,vars);if(x===NONE)return NONE;r.push(x);}return r;}
const r={};for(const f of s){if(f.t){if(!f.t.includes(v.__typename))continue;const x=pick(v,f.s,vars);if(x!==NONE)join(r,x);else if(!isTop)return NONE;continue;}
const c=own(v,f.k),x=c===undefined?NONE:f.s?pick(c,f.s,vars):f.i?id(c):c;if(x!==NONE)r[f.n]=x;else if(!f.w||isNeeded(f.w,vars))return NONE;}return r;};`;

function writeRepresentation(
  schema: GraphQLSchema,
  { type, requires, rewrites, keysOf }: RepresentationSource & { readonly type: string },
): string {
  let name = type;
  for (const rewrite of rewrites) {
    const [condition = '', field] = rewrite.path;
    if (rewrite.kind !== 'ValueSetter' || rewrite.path.length !== 2 || field !== '__typename' || !condition.startsWith(ON))
      throw new Error(`The plan rewrites what it sends in a way that is not known here: ${JSON.stringify(rewrite)}`);
    if (typesOf(schema, condition.slice(ON.length)).includes(type)) name = String(rewrite.setValueTo);
  }
  const applying = requires.filter(
    (each) => each.kind === 'Field' || each.typeCondition === undefined || typesOf(schema, each.typeCondition).includes(type),
  );
  // The planner includes objects of other types without a key; the fetch selects nothing for them.
  const fields = new Set(applying.flatMap(namesIn));
  const keys = [...keysOf(name), ...keysOf(type)];
  if (keys.length > 0 && !keys.some((key) => key.every((field) => fields.has(field)))) return 'return null;';
  const [only, ...others] = applying;
  const isPlain = only?.kind === 'InlineFragment' && others.length === 0 && only.selections.every(({ kind }) => kind === 'Field');
  if (!isPlain) {
    // Of several sets of required fields, the complete ones are used.
    const picks = JSON.stringify(toPicks(schema, applying, type));
    return `const r=pick(o,${picks},vars,true);if(r===NONE||r.__typename===undefined)return null;r.__typename=${quote(name)};return JSON.stringify(r);`;
  }
  const members = only.selections.map((field) => {
    if (field.kind !== 'Field' || field.name === '__typename') return '';
    const sent = quote(`,${JSON.stringify(field.name)}:`);
    const value = read('o', field.alias ?? field.name);
    const isMissing = field.neededWhen ? `if(${conditionOf(field.neededWhen)})return null;` : 'return null;';
    if (!field.selections)
      return `{const v=${value};if(v===undefined){${isMissing}}else s+=${sent}+str(${isId(schema, only.typeCondition ?? type, field.name) ? 'id(v)' : 'v'});}`;
    const picked = `pick(v,${JSON.stringify(toPicks(schema, field.selections, typeOfField(schema, only.typeCondition ?? type, field.name)))},vars)`;
    return `{const v=${value},x=v===undefined?NONE:${picked};if(x===NONE){${isMissing}}else s+=${sent}+JSON.stringify(x);}`;
  });
  return `let s=${quote(`{"__typename":${JSON.stringify(name)}`)};${members.join('')}return s+'}';`;
}

function namesIn(selection: RequiredSelection): string[] {
  return selection.kind === 'Field' ? [selection.name] : selection.selections.flatMap(namesIn);
}

interface Pick {
  readonly k?: string;
  readonly n?: string;
  readonly t?: readonly string[];
  readonly s?: readonly Pick[];
  /** Whether it is an ID. */
  readonly i?: true;
  /** `neededWhen`. */
  readonly w?: RequiredField['neededWhen'];
}

/** `type` is the name of the type around the selections. */
function toPicks(schema: GraphQLSchema, selections: readonly RequiredSelection[], type: string): Pick[] {
  return selections.map((selection) =>
    selection.kind === 'InlineFragment'
      ? {
          t: selection.typeCondition === undefined ? [] : typesOf(schema, selection.typeCondition),
          s: toPicks(schema, selection.selections, selection.typeCondition ?? type),
        }
      : {
          k: selection.alias ?? selection.name,
          n: selection.name,
          ...(selection.selections && { s: toPicks(schema, selection.selections, typeOfField(schema, type, selection.name)) }),
          ...(isId(schema, type, selection.name) && { i: true }),
          ...(selection.neededWhen && { w: selection.neededWhen }),
        },
  );
}

function isId(schema: GraphQLSchema, type: string, field: string): boolean {
  return typeOfField(schema, type, field) === 'ID';
}

/** Returns the name of a field's type without lists; an empty string for `__typename`. */
function typeOfField(schema: GraphQLSchema, type: string, field: string): string {
  const parent = schema.getType(type);
  const definition = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[field] : undefined;
  return definition ? getNamedType(definition.type).name : '';
}

/** Returns the only leaf key of the only object type; its value identifies an entity as the representation does, and is faster to compare. */
export function soleKeyOf(schema: GraphQLSchema, requires: readonly RequiredSelection[]): EntityFetch['key'] {
  const [only, ...others] = requires;
  if (only?.kind !== 'InlineFragment' || others.length > 0) return undefined;
  const type = only.typeCondition ?? '';
  if (!isObjectType(schema.getType(type))) return undefined;
  const [key, ...rest] = only.selections.filter((each) => each.kind !== 'Field' || each.name !== '__typename');
  return key?.kind === 'Field' && rest.length === 0 && !key.selections && !(key.name in Object.prototype)
    ? { type, name: key.alias ?? key.name }
    : undefined;
}
