/** Writes the configuration file of `trestle-gateway init`: every setting with its meaning and default, nearly all as comments. */
import { findFault } from '@trestle/env';
import { stringify } from 'yaml';
import type { ConfigurationNode, SectionNode, SettingNode } from '../entries/setting-tree.ts';
import { describeDefault } from './describe.ts';

/** What the new file sets; everything else is a comment. */
const ACTIVE: Readonly<Record<string, unknown>> = { 'supergraph.file': 'supergraph.graphql', 'authentication.enabled': false };

/** Returns the text of the file. `schema` is the path of the JSON Schema, seen from the folder of the file. */
export function writeTemplate(tree: SectionNode, schema: string): string {
  const head = [
    `# yaml-language-server: $schema=${schema}`,
    '# Configuration of trestle-gateway. Flags and environment variables take precedence over this file.',
    '# Remove "# " before a setting to change it. ${NAME:default} stands for an environment variable.',
    '# Paths are relative to this file. `trestle-gateway check` reports every fault.',
  ];
  const sections = [...tree.children].map(([key, node]) => writeNode({ key, node, path: key, indent: 0 }).join('\n'));
  return `${[head.join('\n'), ...sections].join('\n\n')}\n`;
}

interface Part {
  readonly key: string;
  readonly node: ConfigurationNode;
  readonly path: string;
  readonly indent: number;
}

function writeNode({ key, node, path, indent }: Part): string[] {
  const space = '  '.repeat(indent);
  if (node.kind === 'setting') return writeSetting({ key, node, path, indent });
  if (node.kind === 'rules') return [`${space}## ${node.about}`, `${space}# ${key}: []`];
  const about = node.about === undefined ? [] : [`${space}## ${node.about}`];
  const children = node.kind === 'named' ? [[node.example, node.each] as const] : [...node.children];
  // A section without values is allowed. A subgraph that the supergraph does not have is a fault, and so is a graph without a file.
  const mark = path.startsWith('subgraphs.') || path.startsWith('graphs.') ? '# ' : '';
  const below = children.flatMap(([name, child]) => writeNode({ key: name, node: child, path: `${path}.${name}`, indent: indent + 1 }));
  return [...about, `${space}${mark}${key}:`, ...below];
}

function writeSetting({ key, node, path, indent }: Part & { readonly node: SettingNode }): string[] {
  const space = '  '.repeat(indent);
  const value = Object.hasOwn(ACTIVE, path) ? ACTIVE[path] : toExample(node);
  const line = `${key}: ${stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim()}`;
  return [`${space}## ${node.about}${describeDefault(node)}`, `${space}${Object.hasOwn(ACTIVE, path) ? '' : '# '}${line}`];
}

const MAX_PORT = 65_535;

/** Returns the default, or a value that the setting accepts. */
function toExample({ form, defaultValue, reader }: SettingNode): unknown {
  if (typeof defaultValue !== 'object' && defaultValue !== undefined) return defaultValue;
  if (Array.isArray(defaultValue)) return defaultValue;
  switch (form.kind) {
    case 'integer':
    case 'number':
      return form.maximum === MAX_PORT ? 9464 : Math.max(form.minimum, Math.min(1000, form.maximum));
    case 'choice':
      return form.values[0];
    case 'url':
      return `${form.protocols[0] ?? ''}//127.0.0.1:4001/`;
    case 'boolean':
      return false;
    case 'list':
      // A list that needs an item is one of addresses.
      return findFault(reader, '') === undefined ? [] : ['http://127.0.0.1:4001/'];
    case 'integers':
      return [];
    case 'map':
      return {};
    case 'path':
    case 'string':
      return '';
  }
}
