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
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { TOO_LARGE } from '../../program/program.ts';
import { toResponseKey } from '../../program/response-key.ts';
import { type FieldPosition, conditionOf, inOrder, isAlways } from '../selections/field-positions.ts';
import { leafOf, literal } from './leaf-code.ts';
import { OWN, quote, read } from '../selections/literals.ts';
import type { CollectedField, GuardedSet, Selections } from '../selections/selection.ts';

/**
 * Writes bytes. `b` is the buffer, `p` the position of the next byte. Beyond `end` the buffer must grow; the rest of it is for bytes that are written
 * without a check. `most` is the largest number of bytes: `grow` throws when more are needed, and is called then though a larger buffer has room.
 */
const BYTES = `let b=null,p=0,end=0,most=0;
function open(buffer,max){b=buffer;p=0;most=max;bound();}
function bound(){end=Math.min(b.length,most+4096)-1024;}
function room(n){if(p+n>end)grow(n);}
function grow(n){if(p+n>most){close();throw new RangeError("${TOO_LARGE}");}const o=b;b=Buffer.allocUnsafeSlow(Math.max(o.length*2,p+n+4096));o.copy(b,0,0,p);bound();}
function close(){b=request=vars=faults=null;}
function any(v){utf8(JSON.stringify(v));}
function utf8(t){room(t.length<256?t.length*3:Buffer.byteLength(t));p+=b.utf8Write(t,p);}
function str(v){const n=v.length;if(n>256)return any(v);const s=p;room(n+64);const o=b;let q=p;o[q++]=34;
for(let i=0;i<n;i++){const c=v.charCodeAt(i);if(c<32||c===34||c===92||c>126){p=s;return any(v);}o[q++]=c;}o[q++]=34;p=q;}
function num(v){if(v>=0&&v<10&&(v|0)===v&&!Object.is(v,-0)){b[p++]=48+v;return;}const t=''+v,n=t.length;room(64);for(let i=0;i<n;i++)b[p++]=t.charCodeAt(i);}
function raw(t){const n=t.length;room(n);for(let i=0;i<n;i++)b[p++]=t.charCodeAt(i);}
function whole(t){room(t.length);b.set(t,p);p+=t.length;}
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
  /** Selections that were not fetched because the caller may not read them. */
  readonly denied: ReadonlySet<FieldNode>;
}

/** Returns two expressions of type `WriteData`. */
export function generateWriter(input: WriterInput): WriterCode {
  return { write: new WriterGenerator(input, false).generate(), explain: new WriterGenerator(input, true).generate() };
}

/** A value to be written: its type, its field, and the field's coordinate for messages. */
interface Value {
  readonly type: GraphQLOutputType;
  readonly field: CollectedField;
  readonly place: string;
}

/** Returns an expression of type `Compiled['explain']`, which writes one object of the type `root`; this may be abstract. */
export function generateExplain(input: WriterInput): string {
  return new WriterGenerator(input, true).generate();
}

/** The functions of one writer, each for one type and selection. */
class WriterGenerator {
  readonly #input: WriterInput;
  readonly #explains: boolean;
  readonly #functions: string[] = [];
  readonly #names = new Map<string, string>();
  readonly #nodeIds = new Map<unknown, number>();

  constructor(input: WriterInput, explains: boolean) {
    this.#input = input;
    this.#explains = explains;
  }

  generate(): string {
    const { root, sets } = this.#input;
    const top = isAbstractType(root) ? this.#writeObject(root, sets, root.name) : this.#writeConcrete(root, sets);
    const onFailure = this.#explains ? `p=8;${literal('null')}` : 'close();return null;';
    return `(()=>{"use strict";${OWN}${BYTES}let vars=null,request=null,path=[],faults=null;
function fault(message){faults.push({message,path:path.slice()});}
${this.#functions.join('\n')}
return(data,r)=>{request=r;vars=r.conditions;faults=r.faults;path=[];open(r.buffer,r.maxBytes);${literal('{"data":')}if(!${top}(data)){${onFailure}}const w={bytes:b,length:p};close();return w;};})()`;
  }

  #keyOf(guarded: readonly GuardedSet[]): string {
    const idOf = (node: unknown) => {
      const id = this.#nodeIds.get(node) ?? this.#nodeIds.size;
      this.#nodeIds.set(node, id);
      return String(id);
    };
    return guarded.map(({ set, when }) => `${idOf(set)}${conditionOf([when])}`).join();
  }

  /** Generates a function once for each type and selection; otherwise fragments in fragments would multiply the code. Returns its name. */
  #once(key: string, write: (name: string) => string): string {
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const name = `w${String(this.#names.size)}`;
    this.#names.set(key, name);
    this.#functions.push(write(name));
    return name;
  }

  /** Statements that record a fault, in `explain` only. */
  #fault(message: string): string {
    return this.#explains ? `fault(${quote(message)});` : '';
  }

  /** Statements for a value that cannot be written. */
  #refuse(reason: string, isRequired: boolean): string {
    if (!this.#explains) return 'return false;';
    return `${this.#fault(reason)}${isRequired ? 'return false;' : literal('null')}`;
  }

  /** Statements that call the function of a list or object. */
  #call(name: string, isRequired: boolean): string {
    if (!this.#explains || isRequired) return `if(!${name}(v))return false;`;
    return `{const at=p;if(!${name}(v)){p=at;${literal('null')}}}`;
  }

  /** Returns statements that write the value in `v`, or return false where null is not allowed. */
  #writeValue({ type, field, place }: Value): string {
    const isRequired = isNonNullType(type);
    const inner = isNonNullType(type) ? type.ofType : type;
    const orNull = isRequired ? this.#refuse(`Cannot return null for non-nullable field ${place}.`, true) : literal('null');
    if (isListType(inner)) {
      const name = this.#writeList({ type: inner.ofType as GraphQLOutputType, field, place });
      const refusal = this.#refuse(`Expected a list for ${place}.`, isRequired);
      return `if(v==null){${orNull}}else if(!Array.isArray(v)){${refusal}}else ${this.#call(name, isRequired)}`;
    }
    if (isLeafType(inner)) {
      const { test, write } = leafOf(inner);
      const bad = test === '' ? '' : `else if(!(${test})){${this.#refuse(`Invalid value for ${place}.`, isRequired)}}`;
      return `if(v==null){${orNull}}${bad}else{${write}}`;
    }
    const name = this.#writeObject(inner as GraphQLCompositeType, field.sets, place);
    const refusal = this.#refuse(`Expected an object for ${place}.`, isRequired);
    return `if(v==null){${orNull}}else if(typeof v!=='object'){${refusal}}else ${this.#call(name, isRequired)}`;
  }

  /** Returns the name of the function that writes a list with items of this type. */
  #writeList(item: Value): string {
    return this.#once(`[${String(item.type)}|${item.place}|${this.#keyOf(item.field.sets)}`, (f) => {
      const [enter, leave] = this.#explains ? ['path.push(i);', 'path.pop();'] : ['', ''];
      const each = `if(i)b[p++]=44;room(64);const v=a[i];${enter}${this.#writeValue(item)}${leave}`;
      return this.#restorePath(`function ${f}(a){room(64);b[p++]=91;for(let i=0;i<a.length;i++){${each}}b[p++]=93;return true;}`);
    });
  }

  #writeFields(type: GraphQLNamedType, fields: readonly CollectedField[], ownName: string): string {
    const positions = inOrder(fields);
    const [first] = positions;
    const isSurelyFirst = first !== undefined && isAlways(first.when);
    let body = isSurelyFirst ? '' : 'b[p++]=123;';
    for (const { flag, isFirst } of positions) if (flag !== undefined && isFirst) body += `let ${flag}=true;`;
    positions.forEach((position, i) => {
      const { field, when, flag } = position;
      const key = `${quote(toResponseKey(field.key))}:`;
      const before = isSurelyFirst ? literal(`${i === 0 ? '{' : ','}${key}`) : `if(b[p-1]!==123)b[p++]=44;${literal(key)}`;
      const value = field.name === '__typename' ? ownName : this.#writeField(type, position);
      const statement = `${flag === undefined ? '' : `${flag}=false;`}room(64);${before}${value}`;
      const conditions = [...(flag === undefined ? [] : [flag]), ...(isAlways(when) ? [] : [`(${conditionOf(when)})`])];
      body += conditions.length === 0 ? statement : `if(${conditions.join('&&')}){${statement}}`;
    });
    return `${body}b[p++]=125;`;
  }

  #writeField(parent: GraphQLNamedType, { field }: FieldPosition): string {
    if (field.type === undefined)
      return `{const v=${read('request.introspection', field.key)};if(v===undefined){${literal('null')}}else whole(v);}room(64);`;
    const denied = this.#writeDenied(field);
    if (denied === undefined) return this.#writeFetched(parent, field);
    // A field of which one selection is denied may have been fetched for another.
    return field.nodes.every((node) => this.#input.denied.has(node))
      ? denied
      : `if(${read('o', field.key)}===undefined){${denied}}else{${this.#writeFetched(parent, field)}}`;
  }

  /** Statements for a field that the caller may not read; undefined for one that it may. The error is part of the program. */
  #writeDenied({ nodes, type }: CollectedField): string | undefined {
    const { denied } = this.#input;
    if (denied.size === 0 || !nodes.some((node) => denied.has(node))) return undefined;
    return isNonNullType(type) ? 'return false;' : literal('null');
  }

  #writeFetched(parent: GraphQLNamedType, field: CollectedField): string {
    const value = this.#writeValue({ type: field.type as GraphQLOutputType, field, place: `${parent.name}.${field.name}` });
    if (!this.#explains) return `{const v=${read('o', field.key)};${value}}`;
    return `{const v=${read('o', field.key)};path.push(${quote(field.key)});if(v===undefined)request.noteMissing(path);${value}path.pop();}`;
  }

  /**
   * An object of which only the interface is known (`@interfaceObject`) is null where fields of one of its types are selected: whether it has them is
   * not known (GraphQL §6.4.3, ResolveAbstractType).
   */
  #refuseUnknownType(type: GraphQLNamedType, guarded: readonly GuardedSet[], fields: readonly CollectedField[]): string {
    if (!isInterfaceType(type)) return '';
    const { schema, selections } = this.#input;
    const known = new Set(fields.flatMap(({ nodes }) => nodes));
    const ways = schema
      .getPossibleTypes(type)
      .flatMap((each) => selections.collect(each, guarded))
      .flatMap(({ nodes, when }) => when.filter((_, i) => !known.has(nodes[i] as FieldNode)));
    if (ways.length === 0) return '';
    const condition = conditionOf([...new Map(ways.map((way) => [JSON.stringify(way), way])).values()]);
    return `${condition && `if(${condition})`}{${this.#fault(`The object type of a value of ${type.name} is unknown.`)}return false;}`;
  }

  /** Returns the name of the function that writes objects of this type; of an interface, objects whose type is not known. */
  #writeConcrete(type: GraphQLNamedType, guarded: readonly GuardedSet[]): string {
    return this.#once(`${type.name}|${this.#keyOf(guarded)}`, (name) => {
      const fields = this.#input.selections.collect(type, guarded);
      const unknown = `${this.#fault(`The object type of a value of ${type.name} is unknown.`)}return false;`;
      const ownName = isObjectType(type) ? literal(quote(type.name)) : unknown;
      const body = `${this.#refuseUnknownType(type, guarded, fields)}${this.#writeFields(type, fields, ownName)}`;
      if (this.#explains) return this.#restorePath(`function ${name}(o){room(256);${body}return true;}`);
      const id = name.slice(1);
      // An object in several places is written once, and its bytes are copied.
      return `function ${name}(o){if(o.$w===${id})return again(o);const from=p;room(256);${body}if(o.$n===1){o.$w=${id};o.$s=from;o.$e=p;}return true;}`;
    });
  }

  /** Returns the name of the function that writes objects of this type, by their `__typename` where it is abstract. */
  #writeObject(type: GraphQLCompositeType, guarded: readonly GuardedSet[], place: string): string {
    if (!isAbstractType(type)) return this.#writeConcrete(type, guarded);
    const { schema } = this.#input;
    return this.#once(`${type.name}?${place}|${this.#keyOf(guarded)}`, (name) => {
      // `__typename` is the interface itself where a subgraph knows no more (`@interfaceObject`).
      const candidates: GraphQLNamedType[] = [
        ...schema.getPossibleTypes(type),
        ...(isInterfaceType(type) ? [type, ...schema.getImplementations(type).interfaces] : []),
      ];
      const cases = candidates.map((each) => `case ${quote(each.name)}:return ${this.#writeConcrete(each, guarded)}(o);`);
      const unknown = `${this.#fault(`Invalid __typename for ${place}.`)}return false;`;
      return `function ${name}(o){switch(o.__typename){${cases.join('')}case undefined:return ${this.#writeConcrete(type, guarded)}(o);}${unknown}}`;
    });
  }

  /** Makes a function that returns false restore the path as it was at its start. */
  #restorePath(code: string): string {
    if (!this.#explains) return code;
    return code.replace('{', '{const depth=path.length;').replaceAll('return false;', 'return path.length=depth,false;');
  }
}
