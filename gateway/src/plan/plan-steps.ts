/** Turns a query plan into the steps of a program, and generates what each fetch needs: where its objects stand and how they are told to a subgraph. */
import type { FetchDataRewrite, FetchNode, PlanNode, QueryPlanSelectionNode } from '@apollo/query-planner';
import { type GraphQLSchema, Kind, type OperationDefinitionNode, isAbstractType, isInterfaceType, isObjectType, parse } from 'graphql';
import type { EntityFetch, FetchStep, KeyRename, PlanStep } from '../execute/program.ts';
import { hasHiddenKey } from './hidden-key.ts';
import { OWN, quote, read } from './literals.ts';
import type { SupergraphMend } from './mend-supergraph.ts';
import { splitFetch } from './split-fetch.ts';

export interface PlanCompiler {
  compile(node: PlanNode | undefined): PlanStep | undefined;
  compileFetch(node: FetchNode, path: readonly string[]): FetchStep;
  /** Expressions of type `Compiled['collect'][number]` and `Compiled['represent'][number]`. */
  readonly collect: readonly string[];
  readonly represent: readonly string[];
}

/** `schema` is the whole supergraph's, with the types and fields that clients don't see. */
export function createPlanCompiler(schema: GraphQLSchema, mend: SupergraphMend): PlanCompiler {
  const collectors: string[] = [];
  const represents: string[] = [];
  const seen = new Map<string, number>();

  const visit = (node: PlanNode, path: readonly string[]): PlanStep => {
    switch (node.kind) {
      case 'Sequence':
      case 'Parallel':
        return { kind: node.kind === 'Sequence' ? 'sequence' : 'parallel', steps: node.nodes.map((each) => visit(each, path)) };
      case 'Flatten':
        return visit(node.node, [...path, ...node.path.map(String)]);
      case 'Condition':
        return {
          kind: 'condition',
          variable: node.condition,
          then: node.ifClause && visit(node.ifClause, path),
          otherwise: node.elseClause && visit(node.elseClause, path),
        };
      case 'Fetch': {
        const [only, ...others] = splitFetch(node, mend);
        if (others.length === 0) return compileFetch(only ?? node, path);
        return { kind: 'parallel', steps: [only ?? node, ...others].map((each) => compileFetch(each, path)) };
      }
      case 'Defer':
        throw new Error('@defer is not supported');
    }
  };

  const compileFetch = (node: FetchNode, path: readonly string[]): FetchStep => {
    if (node.contextRewrites?.length) throw new Error('@fromContext is not supported');
    const operation = mend.mendOperation(node.operation);
    const requires = node.requires && mend.mendRequires(node.requires);
    const prefix = `{"query":${JSON.stringify(operation)},${node.operationName === undefined ? '' : `"operationName":${JSON.stringify(node.operationName)},`}"variables":{`;
    seen.set(`${node.serviceName}${prefix}`, (seen.get(`${node.serviceName}${prefix}`) ?? 0) + 1);
    return {
      kind: 'fetch',
      service: node.serviceName,
      operationKind: node.operationKind,
      operation,
      operationName: node.operationName,
      prefix,
      variables: node.variableUsages ?? [],
      path,
      collect: path.length > 0 ? collectors.push(generateCollector(path)) - 1 : undefined,
      entities: requires && compileEntities(requires, node.inputRewrites ?? []),
      rewrites: (node.outputRewrites ?? []).map((rewrite) => toRename(schema, rewrite)),
      keys: node.requires ? [] : rootKeysOf(operation),
      get isRepeated() {
        return (seen.get(`${node.serviceName}${prefix}`) ?? 0) > 1;
      },
    };
  };

  const compileEntities = (requires: readonly QueryPlanSelectionNode[], rewrites: readonly FetchDataRewrite[]) => ({
    represent: represents.push(generateRepresentation(schema, requires, rewrites)) - 1,
    key: rewrites.length > 0 ? undefined : soleKeyOf(schema, requires),
    interfaces: [...interfaceNames],
    isHidden: hasHiddenKey(schema, requires),
  });
  const interfaceNames = Object.values(schema.getTypeMap())
    .filter(isInterfaceType)
    .map(({ name }) => name);

  return { compile: (node) => node && visit(node, []), compileFetch, collect: collectors, represent: represents };
}

/** Nested loops that find every object at `path`. */
function generateCollector(path: readonly string[]): string {
  let code = '';
  let close = '';
  let value = 'd';
  let at = 'null,null';
  path.forEach((segment, depth) => {
    const next = `x${String(depth)}`;
    if (segment === '@') {
      const i = `i${String(depth)}`;
      code += `if(Array.isArray(${value}))for(let ${i}=0;${i}<${value}.length;${i}++){const ${next}=${value}[${i}];if(${next}==null)continue;`;
      at = `${value},${i}`;
    } else {
      code += `if(typeof ${value}==='object'){const ${next}=${read(value, segment)};if(${next}!=null){`;
      at = `${value},${quote(segment)}`;
      close = `}${close}`;
    }
    close = `}${close}`;
    value = next;
  });
  const comma = at.lastIndexOf(',');
  const found = `if(typeof ${value}==='object'&&!Array.isArray(${value})){found.push(${value});if(parents){parents.push(${at.slice(0, comma)});keys.push(${at.slice(comma + 1)});}}`;
  return `(d,found,parents,keys)=>{${code}${found}${close}}`;
}

/** An entity's representation as JSON text, or null when something that it needs is not there. */
function generateRepresentation(
  schema: GraphQLSchema,
  requires: readonly QueryPlanSelectionNode[],
  rewrites: readonly FetchDataRewrite[],
): string {
  const conditions = requires.flatMap((each) =>
    each.kind === 'InlineFragment' && each.typeCondition !== undefined ? [each.typeCondition] : [],
  );
  const types = new Set(conditions.flatMap((name) => typesOf(schema, name)));
  const cases = [...types].map((type) => `case ${quote(type)}:{${writeRepresentation(schema, { type, requires, rewrites })}}`);
  return `(()=>{${OWN}const str=${STR};${PICK}return o=>{switch(o.__typename){${cases.join('')}}return null;}})()`;
}

const STR = `v=>{if(typeof v!=='string'||v.length>64)return JSON.stringify(v);for(let i=0;i<v.length;i++){const c=v.charCodeAt(i);if(c<32||c===34||c===92||c>126)return JSON.stringify(v);}return '"'+v+'"';}`;
/** Takes selections out of a value: null when a part of it was never fetched. What fragments give is put together. */
const PICK = `const join=(a,b)=>{for(const k in b){const x=a[k],y=b[k];if(x&&y&&typeof x==='object'&&typeof y==='object'){if(Array.isArray(x))x.forEach((e,i)=>{if(e&&y[i]&&typeof e==='object')join(e,y[i]);});else join(x,y);}else a[k]=y;}};
const pick=(v,s)=>{if(v==null||typeof v!=='object')return v??null;if(Array.isArray(v))return v.map(e=>pick(e,s));
const r={};for(const f of s){if(f.t){if(!f.t.includes(v.__typename))continue;const x=pick(v,f.s);if(x!==null)join(r,x);continue;}
const c=own(v,f.k);if(c===undefined)return null;r[f.n]=f.s?pick(c,f.s):c;}return r;};`;

function writeRepresentation(
  schema: GraphQLSchema,
  { type, requires, rewrites }: { type: string; requires: readonly QueryPlanSelectionNode[]; rewrites: readonly FetchDataRewrite[] },
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
  const [only, ...others] = applying;
  const isPlain = only?.kind === 'InlineFragment' && others.length === 0 && only.selections.every(({ kind }) => kind === 'Field');
  if (!isPlain) {
    // Of several sets of required fields those count of which everything is there.
    const picks = JSON.stringify(toPicks(schema, applying));
    return `const r=pick(o,${picks});if(r===null||r.__typename===undefined)return null;r.__typename=${quote(name)};return JSON.stringify(r);`;
  }
  const members = only.selections.map((field) => {
    if (field.kind !== 'Field' || field.name === '__typename') return '';
    const sent = quote(`,${JSON.stringify(field.name)}:`);
    const value = field.selections ? `JSON.stringify(pick(v,${JSON.stringify(toPicks(schema, field.selections))}))` : 'str(v)';
    return `{const v=${read('o', field.alias ?? field.name)};if(v===undefined)return null;s+=${sent}+${value};}`;
  });
  return `let s=${quote(`{"__typename":${JSON.stringify(name)}`)};${members.join('')}return s+'}';`;
}

const ON = '... on ';

interface Pick {
  readonly k?: string;
  readonly n?: string;
  readonly t?: readonly string[];
  readonly s?: readonly Pick[];
}

function toPicks(schema: GraphQLSchema, selections: readonly QueryPlanSelectionNode[]): Pick[] {
  return selections.map((selection) =>
    selection.kind === 'InlineFragment'
      ? {
          t: selection.typeCondition === undefined ? [] : typesOf(schema, selection.typeCondition),
          s: toPicks(schema, selection.selections),
        }
      : {
          k: selection.alias ?? selection.name,
          n: selection.name,
          ...(selection.selections && { s: toPicks(schema, selection.selections) }),
        },
  );
}

/** All names that `__typename` may have for a value of this type, the type's own among them. */
function typesOf(schema: GraphQLSchema, name: string): string[] {
  const type = schema.getType(name);
  if (!type || !isAbstractType(type)) return [name];
  const interfaces = isInterfaceType(type) ? schema.getImplementations(type).interfaces : [];
  return [name, ...schema.getPossibleTypes(type).map((each) => each.name), ...interfaces.map((each) => each.name)];
}

/** The one leaf key of the one object type that is asked for: its value is as good as the representation, and quicker to compare. */
function soleKeyOf(schema: GraphQLSchema, requires: readonly QueryPlanSelectionNode[]): EntityFetch['key'] {
  const [only, ...others] = requires;
  if (only?.kind !== 'InlineFragment' || others.length > 0) return undefined;
  const type = only.typeCondition ?? '';
  if (!isObjectType(schema.getType(type))) return undefined;
  const [key, ...rest] = only.selections.filter((each) => each.kind !== 'Field' || each.name !== '__typename');
  return key?.kind === 'Field' && rest.length === 0 && !key.selections && !(key.name in Object.prototype)
    ? { type, name: key.alias ?? key.name }
    : undefined;
}

function toRename(schema: GraphQLSchema, rewrite: FetchDataRewrite): KeyRename {
  if (rewrite.kind !== 'KeyRenamer')
    throw new Error(`The plan rewrites what it receives in a way that is not known here: ${JSON.stringify(rewrite)}`);
  const path = rewrite.path.map((segment) =>
    segment.startsWith(ON) ? { types: typesOf(schema, segment.slice(ON.length)) } : { key: segment },
  );
  return { path, to: rewrite.renameKeyTo };
}

/** Response keys at the root of a fetch's document; the planner's own documents have no fragment spreads there. */
export function rootKeysOf(operation: string): string[] {
  const document = parse(operation);
  const definition = document.definitions.find((each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION);
  const keys: string[] = [];
  const visit = (set: OperationDefinitionNode['selectionSet']) => {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) keys.push(selection.alias?.value ?? selection.name.value);
      else if (selection.kind === Kind.INLINE_FRAGMENT) visit(selection.selectionSet);
      else {
        const fragment = document.definitions.find(
          (each) => each.kind === Kind.FRAGMENT_DEFINITION && each.name.value === selection.name.value,
        );
        if (fragment?.kind === Kind.FRAGMENT_DEFINITION) visit(fragment.selectionSet);
      }
    }
  };
  if (definition) visit(definition.selectionSet);
  return keys;
}
