/**
 * Generates the walker of a fetch: code that checks the bytes of a response against what was requested, and writes its tape. The code knows every
 * byte of a valid response but the values of leaves, and compares four bytes at a time.
 *
 * In the code `b`, `w`, `v` are the arena; `p` is the position in the response, `t` that in the tape, `n` the number of objects at the top, `c` the
 * conditions. `run` is twice the start of the piece that is being kept, plus one when the piece begins with a field. `s` and `e` with a number are the
 * places of values that a key needs, `h` with a number is a hole. `q` is the actual cost of the part of the object at the top that is being read.
 */
import { type GraphQLOutputType, isLeafType, isListType, isNonNullType } from 'graphql';
import { MISSING, RECORD_WORDS, TYPE_WORD } from '../../program/bytes-program.ts';
import type { FieldCost } from '../cost/cost.ts';
import type { CollectedField, Condition } from '../selections/selection.ts';
import type { RequestedFetch } from './requested-fetch.ts';
import { scanId } from './id-scan.ts';
import { isIdType } from './required-key.ts';
import { type RequestedField, type RequestedHole, type RequestedItem, type RequestedObject, Unsupported } from './requested-object.ts';
import { scanLeaf } from './leaf-scan.ts';
import { WalkerText, matches } from './walker-text.ts';

/** Larger functions are slower: V8 does not optimize them. */
const MAX_CODE_LENGTH = 60_000;

/** What all walkers of an operation share. */
export interface WalkerContext {
  /** Returns the bit of a variable. Throws Unsupported for too many variables. */
  readonly bitOf: (variable: string) => number;
  /** Returns the offset of a string in the constants. */
  readonly constant: (text: string) => number;
  /** Returns what a field of the response costs; the cost of its arguments as an expression over `g`, what arguments cost with these variables. */
  readonly costOf: (type: string, field: CollectedField) => FieldCost;
  /** Returns the words that a hole takes. */
  readonly wordsOf: (hole: number) => number;
}

/** Returns an expression of type `Walk`. Throws Unsupported. */
export function generateWalker(fetch: RequestedFetch, context: WalkerContext): string {
  const code = new WalkerGenerator(fetch, context).generate();
  if (code.length > MAX_CODE_LENGTH) throw new Unsupported('a fetch of very many fields');
  return code;
}

type FieldItem = Extract<RequestedItem, { kind: 'field' }>;

/** The cost of a field that is not part of the response. */
const FREE: FieldCost = { weight: 0, args: '0' };
/** Notes the cost of a part, and begins the next one. */
const NOTE_COST = 'if(costs!==null){costs.push(q);q=0;}';

/** Whether a comma precedes the next field. */
type Comma = 'no' | 'yes' | 'maybe';

interface Members {
  /** Whether what was read last is part of the piece that is being kept. */
  readonly isOpen: boolean;
  readonly comma: Comma;
  /** Whether the braces of the object are part of the result: not those of the root object, of entities, and of objects nobody selected. */
  readonly keepsBraces: boolean;
}

interface ValueOptions extends Omit<FieldCost, 'args'> {
  readonly isKept: boolean;
}

interface CasesOptions extends Pick<FieldCost, 'ofObject'> {
  readonly keepsBraces: boolean;
  readonly isTop: boolean;
}

class WalkerGenerator {
  readonly #fetch: RequestedFetch;
  readonly #context: WalkerContext;
  readonly #text = new WalkerText();
  /** The most words that the code writes without a check of the limit. */
  #words = 0;

  constructor(fetch: RequestedFetch, context: WalkerContext) {
    this.#fetch = fetch;
    this.#context = context;
  }

  generate(): string {
    const { parts, tops, source, holes, registers } = this.#fetch;
    const text = this.#text;
    const isOfEntities = source.step.entities !== undefined;
    const words = parts * RECORD_WORDS;
    text.expect(isOfEntities ? '{"_entities":[' : '');
    text.add(isOfEntities ? 'for(;;){' : '');
    text.add('if(n>=count)return 0;if(t>limit)return -1;w[r]=t;n++;');
    if (isOfEntities) text.add(`if(${matches('null')}){p+=4;j.hasNulls=true;${this.#missing()}}else{`);
    for (let part = 0; part < parts; part++) text.add(`w[r+${part * RECORD_WORDS + 1}]=0;`);
    if (tops.length === 1) this.#object(tops[0]?.object as RequestedObject, false);
    else
      this.#cases(
        tops.map(({ object }) => object),
        { keepsBraces: false, isTop: true },
      );
    text.add(`${NOTE_COST}${isOfEntities ? '}' : ''}r+=${words};`);
    if (isOfEntities) text.add('{const x=b[p++];if(x===44)continue;if(x===93)break;return 0;}}');
    text.expect(isOfEntities ? '}' : '');
    text.add('w[r]=t;j.end=p;return n===count?t:0;');
    const names = [...range(holes).map((i) => `,h${i}=0`), ...range(registers).map((i) => `,s${i}=0,e${i}=0`)].join('');
    return `j=>{const b=j.bytes,w=j.words,v=j.view,count=j.count,limit=j.limit-${this.#words + words},c=j.conditions,costs=j.costs,g=j.argumentCosts;if(costs!==null)costs.length=0;let q=0,p=j.start,r=j.records,t=j.tape,n=0,run=0${names};${text.finish()}}`;
  }

  /** Statements for a null entity. */
  #missing(): string {
    return range(this.#fetch.parts)
      .map((part) => `w[r+${part * RECORD_WORDS}]=t;w[r+${part * RECORD_WORDS + 1}]=${MISSING};${NOTE_COST}`)
      .join('');
  }

  /** Keeps what was read up to here as a piece. */
  #cut(at = 'p'): void {
    this.#text.add(`if(run<${at}<<1){w[t++]=run;w[t++]=${at};}`);
    this.#words += 2;
  }

  #object(requested: RequestedObject, keepsBraces: boolean): void {
    this.#text.expect('{');
    const isOpen = keepsBraces && isKeptFirst(requested);
    if (keepsBraces && !isOpen) this.#cut();
    this.#members(requested, { isOpen, comma: 'no', keepsBraces });
  }

  /** Objects of an abstract type: the name of the type comes first. */
  #cases(cases: readonly RequestedObject[], { keepsBraces, isTop, ofObject }: CasesOptions): void {
    const text = this.#text;
    text.expect('{');
    text.add('{const o=p;');
    text.expect('"__typename":"');
    text.flush();
    for (const [i, requested] of cases.entries()) {
      const name = `${requested.type.name}"`;
      text.add(
        `if(${matches(name)}){p+=${name.length};${ofObject ? `q+=${ofObject(requested.type.name)};` : ''}${isTop ? `w[r+${TYPE_WORD}]=${i};` : ''}`,
      );
      const isOpen = keepsBraces && isTypenameFirst(requested);
      if (keepsBraces && !isOpen) this.#cut('o');
      this.#members(isOpen ? { ...requested, items: requested.items.slice(1) } : requested, { isOpen, comma: 'yes', keepsBraces });
      text.add('}else ');
    }
    text.add('return 0;}');
  }

  /** The members of an object and its closing brace. */
  #members({ items, type }: RequestedObject, { isOpen: wasOpen, comma: first, keepsBraces }: Members): void {
    let isOpen = wasOpen;
    let comma = first;
    let part = 0;
    const close = () => {
      if (isOpen) this.#cut();
      isOpen = false;
    };
    for (const item of items) {
      if (item.kind === 'part') {
        close();
        this.#text.add(`${NOTE_COST}w[r+${++part * RECORD_WORDS}]=t;`);
      } else if (item.kind === 'hole') {
        close();
        this.#hole(item.hole);
      } else if (item.kind === 'typename') {
        close();
        this.#typename(item, type.name);
      } else if (!item.isKept || item.field.when.length > 0 || item.keptWhen.length > 0) {
        close();
        this.#closedField(item, type.name, comma);
        comma = item.field.when.length === 0 ? 'yes' : comma === 'yes' ? 'yes' : 'maybe';
      } else {
        this.#comma(comma);
        if (!isOpen) this.#text.add('run=p<<1|1;');
        isOpen = true;
        comma = 'yes';
        this.#field(item, type.name);
      }
    }
    this.#end(items, { isOpen, keepsBraces });
  }

  #end(items: readonly RequestedItem[], { isOpen, keepsBraces }: Pick<Members, 'isOpen' | 'keepsBraces'>): void {
    if (!keepsBraces && isOpen) this.#cut();
    if (keepsBraces && !isOpen) this.#text.add('run=p<<1;');
    this.#text.expect('}');
    for (const item of items) {
      if (item.kind !== 'hole') continue;
      item.hole.registers.forEach((register, i) => {
        const { register: hole } = item.hole;
        this.#text.add(`w[h${hole}+${2 + 2 * i}]=s${register};w[h${hole}+${3 + 2 * i}]=e${register};`);
      });
    }
  }

  /** A field that is not kept, or not always in the response. */
  #closedField(item: FieldItem, type: string, comma: Comma): void {
    const text = this.#text;
    const { field, isKept, keptWhen } = item;
    const isAlways = field.when.length === 0;
    const condition = this.#conditionOf(keptWhen);
    const isAlwaysKept = condition === '' || condition === this.#conditionOf(field.when);
    text.add(isAlways ? '{' : `if(${this.#conditionOf(field.when)}){`);
    this.#comma(comma);
    if (isKept) text.add(`${isAlwaysKept ? '' : 'const k=t,z=q;'}run=p<<1|1;`);
    this.#field(item, type);
    if (isKept) {
      this.#cut();
      if (!isAlwaysKept) text.add(`if(!(${condition})){t=k;q=z;}`);
    }
    text.add('}');
    // The subgraph left out what the client wants: another condition than the plan's.
    if (isKept && !isAlways && condition !== this.#conditionOf(field.when)) text.add(`else ${condition && `if(${condition})`}return 0;`);
  }

  #comma(comma: Comma): void {
    if (comma === 'yes') this.#text.expect(',');
    else if (comma === 'maybe') this.#text.add('if(b[p-1]!==123){if(b[p]!==44)return 0;p++;}');
  }

  #field({ field, isKept, selected }: FieldItem, type: string): void {
    const text = this.#text;
    const { key, register } = field;
    const { args, ...weights } = selected ? this.#context.costOf(type, selected) : FREE;
    if (args !== '0') text.add(`if(costs!==null)q+=${args};`);
    text.expect(`${JSON.stringify(key)}:`);
    const isId = isIdType(field.type);
    if (register !== undefined && !isId) text.add(`s${register}=p;`);
    if (field.type) this.#value(field.type, field, { isKept, ...weights });
    else text.expect(JSON.stringify(type));
    if (register !== undefined && !isId) text.add(`e${register}=p;`);
  }

  #value(type: GraphQLOutputType, field: RequestedField, { isKept, weight, ofObject }: ValueOptions): void {
    const text = this.#text;
    const isNullable = !isNonNullType(type) && !field.isNeverNull;
    const inner = isNonNullType(type) ? type.ofType : type;
    if (isNullable) text.add(`if(${matches('null')})p+=4;else{`);
    // A list of leaves has the weight once.
    if (weight !== 0 && (field.cases.length === 0 || !isListType(inner))) text.add(`q+=${weight};`);
    if (isListType(inner)) {
      text.add('if(b[p]!==91)return 0;p++;if(b[p]===93)p++;else for(;;){if(t>limit)return -1;');
      this.#value(inner.ofType as GraphQLOutputType, field, { isKept, weight: field.cases.length === 0 ? 0 : weight, ofObject });
      text.add('const x=b[p++];if(x===44)continue;if(x===93)break;return 0;}');
    } else if (String(inner) === 'ID') this.#id(field, isKept);
    else if (isLeafType(inner)) text.add(`${scanLeaf(inner)}if(p===0)return 0;`);
    else if (field.isAbstract) this.#cases(field.cases, { keepsBraces: isKept, isTop: false, ofObject });
    else {
      const [only] = field.cases as [RequestedObject];
      if (ofObject) text.add(`q+=${ofObject(only.type.name)};`);
      this.#object(only, isKept);
    }
    text.add(isNullable ? '}' : '');
  }

  #id(field: RequestedField, isKept: boolean): void {
    const { code, words } = scanId(field, isKept ? this.#context.constant('"') : undefined);
    this.#text.add(code);
    this.#words += words;
  }

  #hole({ number, register, first }: RequestedHole): void {
    const words = this.#context.wordsOf(number);
    this.#text.add(`w[t]=${~number};${first === undefined ? '' : `w[t+1]=h${first};`}h${register}=t;t+=${words};`);
    this.#words += words;
  }

  /** The name of the type as a piece of the constants. */
  #typename({ key, keptWhen }: Extract<RequestedItem, { kind: 'typename' }>, type: string): void {
    const text = `${JSON.stringify(key)}:${JSON.stringify(type)}`;
    const at = this.#context.constant(text);
    const condition = this.#conditionOf(keptWhen);
    const write = `w[t++]=${at * 2 + 1};w[t++]=${at + text.length};`;
    this.#text.add(condition === '' ? write : `if(${condition}){${write}}`);
    this.#words += 2;
  }

  #conditionOf(conditions: readonly Condition[]): string {
    return conditions.map(({ variable, isTrue }) => `${isTrue ? '' : '!'}(c&${1 << this.#context.bitOf(variable)})`).join('&&');
  }
}

/** Returns whether an object begins with a field of the response that is always there. */
function isKeptFirst({ items }: RequestedObject): boolean {
  const [first] = items;
  return first === undefined || (first.kind === 'field' && first.isKept && first.field.when.length === 0 && first.keptWhen.length === 0);
}

/** Whether the response begins with the type's name as the request does. */
function isTypenameFirst({ items }: RequestedObject): boolean {
  const [first] = items;
  return first?.kind === 'typename' && first.key === '__typename' && first.keptWhen.length === 0;
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}
