/** Reads the settings out of a parsed configuration file, and finds every fault. */
import { dirname, resolve } from 'node:path';
import { type SettingForm, findFault } from '@trestle/env';
import { type Scalar, isCollection, isMap, isScalar, isSeq } from 'yaml';
import type { HeaderRule, HeaderRules } from '../../headers/header-rules.ts';
import { describeExpected } from './expected-value.ts';
import type { FileFault } from '../file/file-fault.ts';
import { findOtherGateway } from './other-gateways.ts';
import { type ParsedFile, follow } from '../file/parse-file.ts';
import { SCHEMA_KEY } from '../entries/schema-key.ts';
import { type Direction, RULE_KEYS, readHeaderRule } from '../settings/read-header-rule.ts';
import type { ConfigurationNode, NamedNode, RulesNode, SectionNode, SettingNode } from '../entries/setting-tree.ts';
import { type Environment, substitute } from '../file/substitute.ts';
import { suggest } from '@trestle/env/suggest';
import { writePair } from './write-pair.ts';

/** The most subgraphs, and the most items of a list. */
const MAX_ITEMS = 1000;
const MAX_SHOWN_KEY = 64;
const MAX_RULES = 100;
const UNKNOWN_ALIAS = 'is an alias without an anchor';

/** The settings of a file, and its faults. */
export interface FileValues {
  /** By the name of the environment variable that would set the same. */
  readonly values: ReadonlyMap<string, string>;
  readonly faults: readonly FileFault[];
  readonly headerRules: HeaderRules;
  /** The subgraphs that have settings, as they are written. */
  readonly subgraphs: readonly string[];
  /** The graphs that the file names, as they are written. */
  readonly graphs: readonly string[];
  /** The place of every key, by its path. */
  readonly offsets: ReadonlyMap<string, number | undefined>;
}

/** Reads the settings. Paths of files are relative to the folder of `file`. */
export function readValues(
  parsed: ParsedFile,
  { tree, file, environment }: { readonly tree: SectionNode; readonly file: string; readonly environment: Environment },
): FileValues {
  const reader = new ValueReader(parsed, dirname(resolve(file)), environment);
  const { contents } = parsed.document;
  if (contents !== null) reader.read(tree, { node: contents, path: '', name: '' });
  const { values, headerRules, subgraphs, graphs, faults, offsets } = reader;
  return { values, headerRules, subgraphs, graphs, faults: [...parsed.faults, ...faults], offsets };
}

interface Place {
  readonly node: unknown;
  readonly path: string;
  /** The subgraph that the place belongs to. */
  readonly name: string;
}

class ValueReader {
  readonly values = new Map<string, string>();
  readonly subgraphs: string[] = [];
  readonly graphs: string[] = [];
  readonly headerRules = {
    request: { all: [] as HeaderRule[], bySubgraph: new Map<string, HeaderRule[]>() },
    response: { all: [] as HeaderRule[], bySubgraph: new Map<string, HeaderRule[]>() },
  };
  readonly faults: FileFault[] = [];
  readonly offsets = new Map<string, number | undefined>();
  readonly #parsed: ParsedFile;
  readonly #folder: string;
  readonly #environment: Environment;

  constructor(parsed: ParsedFile, folder: string, environment: Environment) {
    this.#parsed = parsed;
    this.#folder = folder;
    this.#environment = environment;
  }

  read(form: ConfigurationNode, place: Place): void {
    if (form.kind === 'section') this.#readSection(form, place);
    else if (form.kind === 'named') this.#readNamed(form, place);
    else if (form.kind === 'rules') this.#readRules(form, place);
    else this.#readSetting(form, place);
  }

  #readSection({ children }: SectionNode, place: Place): void {
    for (const { key, child } of this.#readPairs(place)) {
      const form = children.get(key);
      if (form) this.read(form, { ...child, name: place.name });
      else if (place.path !== '' || key !== SCHEMA_KEY)
        this.#fault({ ...place, path: join(place.path, toShown(key)) }, describeUnknown(key, place, children), child.at);
    }
  }

  #readNamed({ each, of, findFault: findNameFault }: NamedNode, place: Place): void {
    const names = new Set<string>();
    for (const { key, child } of this.#readPairs(place)) {
      // Both would have the same environment variable.
      const name = key.toUpperCase();
      if (names.has(name)) this.#fault(child, 'is a duplicate: names that differ only in case are equal', child.at);
      names.add(name);
      const fault = findNameFault(key);
      if (fault !== undefined) this.#fault({ ...child, path: join(place.path, toShown(key)) }, fault, child.at);
      if (of === 'subgraphs' || of === 'graphs') this[of].push(key);
      this.read(each, { ...child, name });
    }
  }

  /** Returns the keys of a mapping with their values. */
  #readPairs(place: Place): { readonly key: string; readonly child: Place & { readonly at: number | undefined } }[] {
    const node = follow(place.node, this.#parsed.document);
    if (!isMap(node)) {
      // A section whose settings are all commented out has no value.
      if (node === undefined) this.#fault(place, UNKNOWN_ALIAS);
      else if (!isScalar(node) || node.value !== null) this.#fault(place, 'must be a mapping of keys to values');
      return [];
    }
    if (node.items.length > MAX_ITEMS) {
      this.#fault(place, `must have at most ${String(MAX_ITEMS)} keys`);
      return [];
    }
    const keys = new Set<string>();
    return node.items.flatMap(({ key: scalar, value }) => {
      const key = isScalar(scalar) ? String(scalar.value) : '';
      const at = offsetOf(scalar);
      const child = { node: value, path: join(place.path, key), name: place.name, at };
      if (keys.has(key)) this.#fault(child, 'is a duplicate key', at);
      this.offsets.set(child.path, at);
      keys.add(key);
      return this.#hasValue(value, child) ? [{ key, child }] : [];
    });
  }

  /** Returns whether a key has a value, and adds a fault when it has none: a key without a colon has no node as its value. */
  #hasValue(value: unknown, child: Place & { readonly at: number | undefined }): boolean {
    if (value !== null) return true;
    this.#fault(child, 'has no value', child.at);
    return false;
  }

  #readRules({ direction }: RulesNode, place: Place): void {
    const node = follow(place.node, this.#parsed.document);
    if (!isSeq(node) || node.items.length > MAX_RULES) {
      this.#fault(place, `must be a list of at most ${String(MAX_RULES)} rules`);
      return;
    }
    const rules = node.items.flatMap((item, i) => this.#readRule({ ...place, node: item, path: `${place.path}[${String(i)}]` }, direction));
    const { all, bySubgraph } = this.headerRules[direction];
    if (place.name === '') all.push(...rules);
    else bySubgraph.set(place.name.toLowerCase(), rules);
  }

  #readRule(place: Place, direction: Direction): HeaderRule[] {
    const known = this.faults.length;
    const fields: Record<string, string> = {};
    for (const { key, child } of this.#readPairs(place)) {
      if (!(RULE_KEYS as readonly string[]).includes(key)) {
        this.#fault({ ...child, path: join(place.path, toShown(key)) }, `is unknown${suggest(key, RULE_KEYS)}`, child.at);
        continue;
      }
      const text = this.#toText({ kind: 'string' }, child);
      if (text !== undefined) fields[key] = text;
    }
    if (this.faults.length > known) return [];
    const read = readHeaderRule(fields, direction);
    if ('rule' in read) return [read.rule];
    this.#fault(place, read.fault);
    return [];
  }

  #readSetting(form: SettingNode, place: Place): void {
    const text = form.form.kind === 'map' ? this.#toPairs(form, place) : this.#toText(form.form, place);
    // As an empty variable, an empty value counts as unset.
    if (text === undefined || (text === '' && !this.#isEmptyList(place))) return;
    const value = form.form.kind === 'path' ? resolve(this.#folder, text) : text;
    const fault = findFault(form.reader, value);
    if (fault === undefined && value !== '') this.values.set(form.name.replace('*', place.name), value);
    else if (fault !== undefined) this.#fault(place, HAS_RANGE.has(form.form.kind) ? describeExpected(form.form, place.path) : fault);
  }

  /** Returns whether a list is written that has no item: some settings need one. */
  #isEmptyList({ node }: Place): boolean {
    const list = follow(node, this.#parsed.document);
    return isSeq(list) && list.items.length === 0;
  }

  /** Returns the value as an environment variable would hold it; undefined after a fault. */
  #toText(form: SettingForm, place: Place): string | undefined {
    const node = follow(place.node, this.#parsed.document);
    if (form.kind === 'list' || form.kind === 'integers') return this.#toList(form, node, place);
    if (isScalar(node)) return this.#toScalarText(form, node, place);
    this.#fault(place, isCollection(node) ? describeExpected(form, place.path) : UNKNOWN_ALIAS);
    return undefined;
  }

  #toScalarText(form: SettingForm, { value }: Scalar, place: Place): string | undefined {
    const given = this.#readScalar(form, value, place.path);
    if ('text' in given) return given.text;
    this.#fault(place, given.fault);
    return undefined;
  }

  #readScalar(form: SettingForm, value: unknown, path: string): { readonly text: string } | { readonly fault: string } {
    if (value === null) return { fault: 'has no value' };
    if (form.kind === 'boolean' && typeof value === 'boolean') return { text: value ? 'on' : 'off' };
    if (form.kind === 'number' && typeof value === 'number' && Number.isFinite(value)) return { text: String(value) };
    if (form.kind === 'integer' && typeof value === 'number' && Number.isSafeInteger(value)) return { text: String(value) };
    if (typeof value !== 'string') return { fault: describeExpected(form, path, value) };
    const substituted = substitute(value, this.#environment);
    if ('fault' in substituted) return substituted;
    const { text, hasVariables } = substituted;
    if (text === '') return { text };
    // A quoted number is a fault. A number that a variable inserted is always in a string.
    if (!hasVariables && NEVER_STRINGS.has(form.kind)) return { fault: describeExpected(form, path, value) };
    return { text: form.kind === 'boolean' ? (SWITCHES.get(text) ?? text) : text };
  }

  #toList(form: SettingForm, node: unknown, place: Place): string | undefined {
    if (isScalar(node) && typeof node.value === 'string') return this.#toScalarText(form, node, place);
    if (!isSeq(node) || node.items.length > MAX_ITEMS) {
      this.#fault(
        place,
        form.kind === 'list' ? `must be a list of at most ${String(MAX_ITEMS)} strings` : describeExpected(form, place.path),
      );
      return undefined;
    }
    const items = node.items.map((item, i) => {
      const each = { ...place, node: item, path: `${place.path}[${String(i)}]` };
      const text = this.#toText(form.kind === 'integers' ? { ...form, kind: 'integer' } : { kind: 'string' }, each);
      if (text === undefined || !/[\s,]/.test(text)) return text;
      this.#fault(each, 'must not contain white space or commas');
      return undefined;
    });
    return items.includes(undefined) ? undefined : items.join(',');
  }

  /** Returns a mapping as an environment variable would hold it. As an empty variable, an empty value counts as unset. */
  #toPairs({ form, reader }: SettingNode, place: Place): string | undefined {
    const node = follow(place.node, this.#parsed.document);
    if (isScalar(node) && node.value !== null) return this.#toScalarText(form, node, place);
    const known = this.faults.length;
    const pairs = this.#readPairs(place).flatMap(({ key, child }) => {
      const value = this.#toText({ kind: 'string' }, child);
      if (value === undefined || value === '') return [];
      const pair = writePair(key, value);
      const fault = findFault(reader, pair);
      if (fault !== undefined) this.#fault({ ...child, path: join(place.path, toShown(key)) }, fault, child.at);
      return [pair];
    });
    return this.faults.length > known ? undefined : pairs.join(',');
  }

  #fault({ path, node }: Omit<Place, 'name'>, message: string, at?: number): void {
    this.faults.push({ path, message, offset: at ?? offsetOf(node) });
  }
}

/** Kinds of values that a file writes without quotes: a string has such a value only when a variable was inserted. */
const NEVER_STRINGS: ReadonlySet<SettingForm['kind']> = new Set(['integer', 'number', 'boolean', 'list', 'integers', 'map']);

const SWITCHES: ReadonlyMap<string, string> = new Map([
  ['true', 'on'],
  ['false', 'off'],
]);

/** Kinds for which the message of the reader does not fit a file: it lacks the range, or says on and off where a file has true and false. */
const HAS_RANGE: ReadonlySet<SettingForm['kind']> = new Set(['integer', 'number', 'integers', 'boolean']);
/** A key of YAML 1.1 that merges a mapping. */
const MERGE_KEY = '<<';

function describeUnknown(key: string, { path }: Place, children: SectionNode['children']): string {
  if (key === MERGE_KEY) return 'is unknown: mappings cannot be merged. Write the settings out, or use an alias for each value';
  return `is unknown${findOtherGateway(join(path, key)) ?? suggest(key, children.keys())}`;
}

/** Returns a key as it can be printed: what is invisible, such as a no-break space, would not explain anything. */
function toShown(key: string): string {
  const toEscape = (character: string) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  return key.slice(0, MAX_SHOWN_KEY).replace(/[^\x20-\x7e]/gu, toEscape);
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

function offsetOf(node: unknown): number | undefined {
  return (node as { readonly range?: readonly number[] | null } | null)?.range?.[0];
}
