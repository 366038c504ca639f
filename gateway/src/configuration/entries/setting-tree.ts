/** The form of a configuration file as a tree, made of {@link ENTRIES}. The reader, the JSON Schema, the reference and `init` follow it. */
import { type SettingForm, type SettingReader, describeSetting } from '@trestle/env';
import { mayRequest } from '../../headers/header-names.ts';
import { ENTRIES } from './entries.ts';
import type { Effect, FileSettingName } from './entry.ts';
import { GRAPH_ENTRIES, RULES, SECTIONS, SOURCE_HEADERS, STAGE_ENTRIES, SUBGRAPH_ENTRIES } from './sections.ts';
import { findStageFault, stageSettings } from '../settings/coprocessor-settings.ts';
import type { Direction } from '../settings/read-header-rule.ts';
import { graphSettings, settings, sourceHeader, subgraphSettings } from '../settings/settings.ts';

/** One setting. */
export interface SettingNode {
  readonly kind: 'setting';
  /** The environment variable that its value is given to. `*` stands for the name of a subgraph. */
  readonly name: string;
  /** All environment variables that set it, the one with the highest precedence first. */
  readonly variables: readonly string[];
  readonly flag: string | undefined;
  readonly placeholder?: string | undefined;
  readonly reader: SettingReader;
  readonly form: SettingForm;
  readonly defaultValue: unknown;
  readonly otherwise: string | undefined;
  readonly about: string;
  readonly effect: Effect;
}

/** A group of settings. */
export interface SectionNode {
  readonly kind: 'section';
  readonly about: string | undefined;
  readonly children: Map<string, ConfigurationNode>;
}

/** Equal settings, or groups of them, by names that the user chooses. */
export interface NamedNode {
  readonly kind: 'named';
  /** What the names are those of. */
  readonly of: 'subgraphs' | 'headers' | 'graphs' | 'stages';
  readonly about: string;
  /** A name in an example. */
  readonly example: string;
  /** Returns why a name is not allowed; undefined for one that is. */
  readonly findFault: (name: string) => string | undefined;
  readonly each: SectionNode | SettingNode;
}

/** Rules for headers, which no environment variable can hold. */
export interface RulesNode {
  readonly kind: 'rules';
  readonly direction: Direction;
  readonly about: string;
}

export type ConfigurationNode = SettingNode | SectionNode | NamedNode | RulesNode;

/** Returns the form of a configuration file. */
export function createSettingTree(): SectionNode {
  const root = createSection(undefined);
  for (const [name, about] of Object.entries(SECTIONS)) root.children.set(name, createSection(about));
  for (const [name, entry] of Object.entries(ENTRIES)) {
    const keys = entry.path.split('.');
    const last = keys.pop() ?? '';
    const reader: SettingReader = settings[name as FileSettingName];
    const variables = entry.stronger === undefined ? [name] : [entry.stronger, name];
    const { flag, placeholder, otherwise, about, effect } = entry;
    findSection(root, keys).children.set(last, {
      ...{ kind: 'setting', name, variables, flag, placeholder, otherwise, about, effect, reader },
      ...describeSetting(reader),
    });
  }
  addRules(findSection(root, ['headers']));
  findSection(root, ['supergraph']).children.set('headers', createSourceHeaders());
  findSection(root, ['extensions', 'coprocessor']).children.set('perStage', createStages());
  root.children.set('subgraphs', {
    ...{ kind: 'named', of: 'subgraphs', about: SECTIONS.subgraphs, example: 'products', findFault: () => undefined },
    each: createSubgraphSection(),
  });
  root.children.set('graphs', {
    ...{ kind: 'named', of: 'graphs', about: SECTIONS.graphs, example: 'shop', findFault: findGraphNameFault },
    each: createNamedSection(GRAPH_ENTRIES, { family: graphSettings, effect: 'start' }),
  });
  return root;
}

function createStages(): NamedNode {
  const { all: about, ...entries } = STAGE_ENTRIES;
  return {
    ...{ kind: 'named', of: 'stages', about, example: 'onPlan', findFault: findStageFault },
    each: createNamedSection(entries, { family: stageSettings, effect: 'start' }),
  };
}

function createSourceHeaders(): NamedNode {
  const { prefix, reader } = sourceHeader;
  const name = `${prefix}*`;
  return {
    ...{ kind: 'named', of: 'headers', about: SOURCE_HEADERS.all, example: 'Authorization' },
    findFault: (header) => (mayRequest(header) ? undefined : 'must be the name of a header that may be sent'),
    each: {
      ...{
        kind: 'setting',
        name,
        variables: [name],
        flag: undefined,
        otherwise: undefined,
        about: SOURCE_HEADERS.each,
        effect: 'start',
        reader,
      },
      ...describeSetting(reader),
    },
  };
}

function addRules(section: SectionNode): void {
  section.children.set('request', { kind: 'rules', direction: 'request', about: RULES.request });
  section.children.set('response', { kind: 'rules', direction: 'response', about: RULES.response });
}

function createSection(about: string | undefined): SectionNode {
  return { kind: 'section', about, children: new Map() };
}

function findSection(root: SectionNode, keys: readonly string[]): SectionNode {
  let section = root;
  for (const key of keys) {
    const next = section.children.get(key) ?? createSection(undefined);
    if (next.kind !== 'section') throw new Error(`${keys.join('.')} is both a section and a setting`);
    section.children.set(key, next);
    section = next;
  }
  return section;
}

function createSubgraphSection(): SectionNode {
  const section = createNamedSection(SUBGRAPH_ENTRIES, { family: subgraphSettings, effect: 'now' });
  addRules(findSection(section, ['headers']));
  return section;
}

interface Family<Key extends string> {
  readonly family: Readonly<Record<Key, { readonly prefix: string; readonly reader: SettingReader }>>;
  readonly effect: Effect;
}

/** Returns the settings of what has a name, such as a subgraph. */
function createNamedSection<Key extends string>(entries: Readonly<Record<Key, string>>, { family, effect }: Family<Key>): SectionNode {
  const section = createSection(undefined);
  for (const key of Object.keys(entries) as Key[]) {
    const { prefix, reader } = family[key];
    const variable = `${prefix}*`;
    const keys = key.split('.');
    const last = keys.pop() ?? '';
    findSection(section, keys).children.set(last, {
      ...{
        kind: 'setting',
        name: variable,
        variables: [variable],
        flag: undefined,
        otherwise: undefined,
        about: entries[key],
        effect,
        reader,
      },
      ...describeSetting(reader),
    });
  }
  return section;
}

/** The name stands in metrics, in the log, and in names of environment variables. */
function findGraphNameFault(name: string): string | undefined {
  return /^[a-z][a-z\d_]{0,39}$/i.test(name) ? undefined : 'must be a name of at most 40 letters, digits and _';
}

/** A setting with its path. */
export interface SettingPlace {
  readonly path: string;
  readonly node: SettingNode;
}

/** Returns every setting in the order of the tree. The name of a subgraph is `<name>`. */
export function listSettings(node: ConfigurationNode, path = ''): SettingPlace[] {
  if (node.kind === 'setting') return [{ path, node }];
  if (node.kind === 'rules') return [];
  if (node.kind === 'named') return listSettings(node.each, `${path}.<name>`);
  return [...node.children].flatMap(([key, child]) => listSettings(child, path === '' ? key : `${path}.${key}`));
}
