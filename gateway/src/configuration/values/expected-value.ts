/** What a setting accepts, in words, for messages about values in configuration files. No I/O. */
import type { SettingForm } from '@trestle/env';

/** Units by the ends of names, which say them for the whole configuration. */
const UNITS: readonly (readonly [RegExp, string])[] = [
  [/Ms$/, 'in milliseconds'],
  [/Seconds$/, 'in seconds'],
  [/Bytes(?:PerSecond)?$/, 'in bytes'],
  [/Percent$/, 'in percent'],
];

/**
 * Returns what a value must be: the type, for a number also its range and unit, which the name of the setting ends with. `value` is the one that
 * does not fit; for a number in quotes, or with a unit, the message says so. It never contains the value.
 */
export function describeExpected(form: SettingForm, path: string, value?: unknown): string {
  switch (form.kind) {
    case 'integer':
    case 'number':
      return `must be ${form.kind === 'integer' ? 'an integer' : 'a number'} from ${String(form.minimum)} to ${String(form.maximum)}${describeUnit(path)}${findRemark(value)}`;
    case 'integers':
      return `must be a list of integers from ${String(form.minimum)} to ${String(form.maximum)}`;
    case 'boolean':
      return 'must be true or false';
    case 'choice':
      return `must be one of ${form.values.join(', ')}`;
    case 'list':
      return 'must be a list of strings';
    case 'map':
      return 'must be a mapping of names to strings';
    default:
      return 'must be a string';
  }
}

function describeUnit(path: string): string {
  const unit = UNITS.find(([end]) => end.test(path));
  return unit ? `, ${unit[1]}` : '';
}

function findRemark(value: unknown): string {
  if (typeof value !== 'string') return '';
  if (/^-?\d+(?:\.\d+)?$/.test(value)) return ', without quotes';
  if (/^\d[\d_,.]*$/.test(value)) return ', of digits only';
  return /^\d+\s?[a-zA-Z]{1,3}$/.test(value) ? ', without a unit behind it' : '';
}
