/**
 * Generates the code that writes the data of a response directly from the subgraphs' objects into bytes, by the client's selection set: aliases, type
 * conditions, `@skip` and `@include`, enum and scalar checks, null propagation (GraphQL §6.4). The data are visited once.
 */
import {
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isAbstractType,
  isEnumType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { TOO_LARGE } from '../program/program.ts';
import { toResponseKey } from '../program/response-key.ts';
import { OWN, quote, read } from './literals.ts';
import type { CollectedField, Condition, GuardedSet, Selections } from './selection.ts';

/**
 * Writes bytes. `b` is the buffer, `p` the position of the next byte. Beyond `end` the buffer must grow; the rest of it is for bytes that are written
 * without a check. `most` is the largest number of bytes: `grow` throws when more are needed.
 */
const BYTES = `let b=null,p=0,end=0,most=0;
function open(buffer,max){b=buffer;p=0;most=max;end=b.length-1024;}
function room(n){if(p+n>end)grow(n);}
function grow(n){if(p+n>most){close();throw new RangeError("${TOO_LARGE}");}const o=b;b=Buffer.allocUnsafeSlow(Math.max(o.length*2,p+n+4096));o.copy(b,0,0,p);end=b.length-1024;}
function close(){b=request=vars=faults=null;}
function any(v){utf8(JSON.stringify(v));}
function utf8(t){room(t.length<256?t.length*3:Buffer.byteLength(t));p+=b.utf8Write(t,p);}
function str(v){const n=v.length;if(n>256)return any(v);const s=p;room(n+64);const o=b;let q=p;o[q++]=34;
for(let i=0;i<n;i++){const c=v.charCodeAt(i);if(c<32||c===34||c===92||c>126){p=s;return any(v);}o[q++]=c;}o[q++]=34;p=q;}
function num(v){if(v>=0&&v<10&&(v|0)===v&&!Object.is(v,-0)){b[p++]=48+v;return;}const t=''+v,n=t.length;room(64);for(let i=0;i<n;i++)b[p++]=t.charCodeAt(i);}
function raw(t){const n=t.length;room(n);for(let i=0;i<n;i++)b[p++]=t.charCodeAt(i);}
function again(o){const n=o.$e-o.$s;room(n);b.copyWithin(p,o.$s,o.$e);p+=n;return true;}
`;

/** `write` returns null at the first value that does not fit the schema; `explain` keeps the path, writes null there and reports why. */
export interface WriterCode {
  readonly write: string;
  readonly explain: string;
}

export interface WriterInput {
  readonly schema: GraphQLSchema;
  readonly root: GraphQLNamedType;
  readonly sets: readonly GuardedSet[];
  readonly selections: Selections;
}

/** Returns two expressions of type `WriteData`. */
export function generateWriter(input: WriterInput): WriterCode {
  return { write: generate(input, false), explain: generate(input, true) };
}

function generate({ schema, root, sets, selections }: WriterInput, explains: boolean): string {
  const functions: string[] = [];
  const written = new Map<string, string>();
  const nodeIds = new Map<unknown, number>();
  const idOf = (node: unknown) => {
    const id = nodeIds.get(node) ?? nodeIds.size;
    nodeIds.set(node, id);
    return id;
  };
  const keyOf = (guarded: readonly GuardedSet[]) => guarded.map(({ set, when }) => `${String(idOf(set))}${conditionOf([when])}`).join();
  /** A function is generated once for each type and selection; otherwise fragments in fragments would multiply the code. */
  const once = (key: string, write: (name: string) => string): string => {
    const known = written.get(key);
    if (known !== undefined) return known;
    const name = `w${String(written.size)}`;
    written.set(key, name);
    functions.push(write(name));
    return name;
  };

  /** Returns statements that write the value in `v`, or return false where null is not allowed. */
  const writeValue = (type: GraphQLOutputType, field: CollectedField, place: string): string => {
    const isRequired = isNonNullType(type);
    const inner = isNonNullType(type) ? type.ofType : type;
    const refuse = (reason: string) => (explains ? `${fault(reason)}${isRequired ? 'return false;' : literal('null')}` : 'return false;');
    const orNull = isRequired ? refuse(`Cannot return null for non-nullable field ${place}.`) : literal('null');
    const call = (name: string) => {
      if (!explains) return `if(!${name}(v))return false;`;
      return isRequired ? `if(!${name}(v))return false;` : `{const at=p;if(!${name}(v)){p=at;${literal('null')}}}`;
    };
    if (isListType(inner)) {
      const item = inner.ofType as GraphQLOutputType;
      const name = once(`[${String(item)}|${place}|${keyOf(field.sets)}`, (f) => {
        const [enter, leave] = explains ? ['path.push(i);', 'path.pop();'] : ['', ''];
        const each = `if(i)b[p++]=44;room(64);const v=a[i];${enter}${writeValue(item, field, place)}${leave}`;
        return restorePath(`function ${f}(a){room(64);b[p++]=91;for(let i=0;i<a.length;i++){${each}}b[p++]=93;return true;}`, explains);
      });
      return `if(v==null){${orNull}}else if(!Array.isArray(v)){${refuse(`Expected a list for ${place}.`)}}else ${call(name)}`;
    }
    if (isLeafType(inner)) {
      const { test, write } = leafOf(inner);
      const bad = test === '' ? '' : `else if(!(${test})){${refuse(`Invalid value for ${place}.`)}}`;
      return `if(v==null){${orNull}}${bad}else{${write}}`;
    }
    const name = writeObject(inner as GraphQLCompositeType, field.sets, place);
    return `if(v==null){${orNull}}else if(typeof v!=='object'){${refuse(`Expected an object for ${place}.`)}}else ${call(name)}`;
  };

  const writeFields = (type: GraphQLNamedType, fields: readonly CollectedField[], ownName: string): string => {
    const occurrences = inOrder(fields);
    const [first] = occurrences;
    const isSurelyFirst = first !== undefined && isAlways(first.when);
    let body = isSurelyFirst ? '' : 'b[p++]=123;';
    for (const { flag, isFirst } of occurrences) if (flag !== undefined && isFirst) body += `let ${flag}=true;`;
    occurrences.forEach(({ field, when, flag }, i) => {
      const key = `${quote(toResponseKey(field.key))}:`;
      const before = isSurelyFirst ? literal(`${i === 0 ? '{' : ','}${key}`) : `if(b[p-1]!==123)b[p++]=44;${literal(key)}`;
      const place = `${type.name}.${field.name}`;
      const value =
        field.name === '__typename'
          ? ownName
          : field.type === undefined
            ? `utf8(${read('request.introspection', field.key)}??'null');room(64);`
            : explains
              ? `{const v=${read('o', field.key)};path.push(${quote(field.key)});if(v===undefined)request.noteMissing(path);${writeValue(field.type, field, place)}path.pop();}`
              : `{const v=${read('o', field.key)};${writeValue(field.type, field, place)}}`;
      const statement = `${flag === undefined ? '' : `${flag}=false;`}room(64);${before}${value}`;
      const conditions = [...(flag === undefined ? [] : [flag]), ...(isAlways(when) ? [] : [`(${conditionOf(when)})`])];
      body += conditions.length === 0 ? statement : `if(${conditions.join('&&')}){${statement}}`;
    });
    return `${body}b[p++]=125;`;
  };

  /**
   * An object of which only the interface is known (`@interfaceObject`) is null where fields of one of its types are selected: whether it has them is
   * not known (GraphQL §6.4.3, ResolveAbstractType).
   */
  const refuseUnknownType = (type: GraphQLNamedType, guarded: readonly GuardedSet[], fields: readonly CollectedField[]): string => {
    if (!isInterfaceType(type)) return '';
    const known = new Set(fields.flatMap(({ nodes }) => nodes));
    const ways = schema
      .getPossibleTypes(type)
      .flatMap((each) => selections.collect(each, guarded))
      .flatMap(({ nodes, when }) => when.filter((_, i) => !known.has(nodes[i] as FieldNode)));
    if (ways.length === 0) return '';
    const condition = conditionOf([...new Map(ways.map((way) => [JSON.stringify(way), way])).values()]);
    return `${condition && `if(${condition})`}{${explains ? fault(`No type is known for an object of ${type.name}.`) : ''}return false;}`;
  };

  const writeConcrete = (type: GraphQLNamedType, guarded: readonly GuardedSet[], fields = selections.collect(type, guarded)): string =>
    once(`${type.name}|${keyOf(guarded)}`, (name) => {
      const ownName = isObjectType(type)
        ? literal(quote(type.name))
        : explains
          ? `${fault(`No type is known for an object of ${type.name}.`)}return false;`
          : 'return false;';
      const body = `${refuseUnknownType(type, guarded, fields)}${writeFields(type, fields, ownName)}`;
      if (explains) return restorePath(`function ${name}(o){room(256);${body}return true;}`, true);
      const id = name.slice(1);
      // An object in several places is written once, and its bytes are copied.
      return `function ${name}(o){if(o.$w===${id})return again(o);const from=p;room(256);${body}if(o.$n===1){o.$w=${id};o.$s=from;o.$e=p;}return true;}`;
    });

  const writeObject = (type: GraphQLCompositeType, guarded: readonly GuardedSet[], place: string): string => {
    if (!isAbstractType(type)) return writeConcrete(type, guarded);
    return once(`${type.name}?${place}|${keyOf(guarded)}`, (name) => {
      // `__typename` is the interface itself where a subgraph knows no more (`@interfaceObject`).
      const candidates: GraphQLNamedType[] = [
        ...schema.getPossibleTypes(type),
        ...(isInterfaceType(type) ? [type, ...schema.getImplementations(type).interfaces] : []),
      ];
      const cases = candidates.map((each) => `case ${quote(each.name)}:return ${writeConcrete(each, guarded)}(o);`);
      const unknown = explains ? `${fault(`Invalid __typename for ${place}.`)}return false;` : 'return false;';
      return `function ${name}(o){switch(o.__typename){${cases.join('')}case undefined:return ${writeConcrete(type, guarded)}(o);}${unknown}}`;
    });
  };

  const top = writeConcrete(root, sets);
  const onFailure = explains ? `p=8;${literal('null')}` : 'close();return null;';
  return `(()=>{"use strict";${OWN}${BYTES}let vars=null,request=null,path=[],faults=null;
function fault(message){faults.push({message,path:path.slice()});}
${functions.join('\n')}
return(data,r)=>{request=r;vars=r.conditions;faults=r.faults;path=[];open(r.buffer,r.maxBytes);${literal('{"data":')}if(!${top}(data)){${onFailure}}const w={bytes:b,length:p};close();return w;};})()`;
}

/** Makes a function that returns false restore the path as it was at its start. */
function restorePath(code: string, explains: boolean): string {
  return explains ? code.replace('{', '{const depth=path.length;').replaceAll('return false;', 'return path.length=depth,false;') : code;
}

function fault(message: string): string {
  return `fault(${quote(message)});`;
}

/** A position in the response where a field may be written. */
interface Occurrence {
  readonly field: CollectedField;
  readonly when: readonly (readonly Condition[])[];
  /** For a field with several positions: the variable that is true until the field is written. */
  readonly flag: string | undefined;
  readonly isFirst: boolean;
}

/**
 * Returns the positions of fields in the order of the response. A field is at its first selection that is not skipped (GraphQL §6.3.2), so a field
 * whose first selection may be skipped has several positions.
 */
function inOrder(fields: readonly CollectedField[]): Occurrence[] {
  const all = fields.flatMap((field, n): { place: number; occurrence: Occurrence }[] => {
    const always = field.when.findIndex((conditions) => conditions.length === 0);
    const places = field.places.slice(0, always < 0 ? undefined : always + 1);
    // One position is enough when no other field is between the positions of a field.
    const [start = 0, end = start] = [places[0], places.at(-1)];
    const isBetween = (place: number) => place > start && place < end;
    if (start === end || !fields.some((other) => other !== field && other.places.some(isBetween)))
      return [{ place: start, occurrence: { field, when: field.when, flag: undefined, isFirst: true } }];
    const flag = `f${String(n)}`;
    return places.map((place, i) => ({
      place,
      occurrence: { field, when: [field.when[i] ?? []], flag, isFirst: i === 0 },
    }));
  });
  return all.sort((a, b) => a.place - b.place).map(({ occurrence }) => occurrence);
}

function isAlways(when: readonly (readonly Condition[])[]): boolean {
  return when.some((all) => all.length === 0);
}

/** Returns a boolean expression over `vars`; empty for always. */
export function conditionOf(when: readonly (readonly Condition[])[]): string {
  if (isAlways(when)) return '';
  return when.map((all) => all.map(({ variable, isTrue }) => `${isTrue ? '' : '!'}${read('vars', variable)}`).join('&&')).join('||');
}

/** Returns statements that write a fixed string in UTF-8; short ones byte by byte. */
function literal(text: string): string {
  const bytes = Buffer.from(text);
  // `raw` writes one byte for each character, which is UTF-8 for ASCII alone (RFC 8259 §8.1).
  if (bytes.length > 32) return `${bytes.length === text.length ? 'raw' : 'utf8'}(${quote(text)});`;
  return `{const o=b;${[...bytes].map((byte, i) => `o[p+${String(i)}]=${String(byte)};`).join('')}p+=${String(bytes.length)};}`;
}

/** Returns the test and the statements for a leaf's value (GraphQL §3.5). Values of custom scalars are written as the subgraph gives them. */
function leafOf(type: GraphQLNamedType): { test: string; write: string } {
  if (isEnumType(type)) {
    const names = type.getValues().map(({ name }) => `v===${quote(name)}`);
    return { test: names.length > 0 ? names.join('||') : 'false', write: 'str(v);' };
  }
  switch (type.name) {
    case 'Int':
      return { test: "typeof v==='number'&&(v|0)===v", write: 'num(v);' };
    case 'Float':
      return { test: "typeof v==='number'&&v-v===0", write: 'num(v);' };
    case 'Boolean':
      return { test: "typeof v==='boolean'", write: `if(v){${literal('true')}}else{${literal('false')}}` };
    case 'String':
      return { test: "typeof v==='string'", write: 'str(v);' };
    case 'ID':
      return { test: "typeof v==='string'||Number.isInteger(v)", write: "typeof v==='string'?str(v):num(v);" };
    default:
      return { test: '', write: "if(typeof v==='string')str(v);else any(v);" };
  }
}
