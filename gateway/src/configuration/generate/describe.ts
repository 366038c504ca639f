/** Describes settings in words, for the reference, the help and new configuration files. */
import type { SettingForm } from '@trestle/env';
import type { SettingNode } from '../entries/setting-tree.ts';

/** Returns the values that a setting accepts. */
export function describeForm(form: SettingForm): string {
  switch (form.kind) {
    case 'integer':
    case 'number':
      return `${form.kind}, ${String(form.minimum)} to ${String(form.maximum)}`;
    case 'integers':
      return `list of integers, ${String(form.minimum)} to ${String(form.maximum)}`;
    case 'choice':
      return form.values.map((value) => `\`${value}\``).join(', ');
    case 'boolean':
      return '`true` or `false`';
    case 'url':
      return `URL (${form.protocols.map((protocol) => protocol.slice(0, -1)).join(', ')})`;
    case 'list':
      return 'list of strings';
    case 'map':
      return 'strings by names';
    case 'path':
      return 'path of a file';
    case 'string':
      return 'string';
  }
}

/** Returns the default as a sentence after the meaning of a setting; an empty string when its value is the default. */
export function describeDefault({ otherwise, defaultValue }: SettingNode): string {
  if (otherwise !== undefined) return ` Without it: ${otherwise}.`;
  return defaultValue === undefined ? ' No default.' : '';
}

/** Returns the default as the cell of a table. */
export function writeDefault({ otherwise, defaultValue }: SettingNode): string {
  if (otherwise !== undefined) return otherwise;
  if (defaultValue === undefined) return '';
  if (Array.isArray(defaultValue)) return `\`${JSON.stringify(defaultValue)}\``;
  if (defaultValue instanceof Map) return '`{}`';
  return typeof defaultValue === 'object' ? '`[]`' : `\`${JSON.stringify(defaultValue).replaceAll('"', '')}\``;
}
