/** Writes the tables of docs/gateway/configuration.md: one row for each setting. */
import { describeForm, writeDefault } from './describe.ts';
import { type ConfigurationNode, type SectionNode, type SettingPlace, listSettings } from '../entries/setting-tree.ts';

const BEGIN = '<!-- The settings: written by `npm run configuration`. -->\n<!-- prettier-ignore-start -->\n';
const END = '<!-- prettier-ignore-end -->';

/** Returns the page with new tables between its two marks. Throws for a page without them. */
export function updateReference(page: string, tree: SectionNode): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error('The page has no place for the settings.');
  const tables = [...tree.children].map(([key, node]) => {
    const about = node.kind === 'setting' ? '' : (node.about ?? '');
    return [`### \`${key}\``, '', about, '', ...HEAD, ...listSettings(node, key).map(writeRow), ...listRules(node, key), ''].join('\n');
  });
  return `${page.slice(0, begin)}${BEGIN}\n${tables.join('\n')}\n${page.slice(end)}`;
}

const HEAD = ['| setting | values | default | environment, flag | a change takes effect | meaning |', '| - | - | - | - | - | - |'];

function writeRow({ path, node }: SettingPlace): string {
  const sources = [...node.variables.map(writeVariable), ...(node.flag === undefined ? [] : [`\`--${node.flag}\``])];
  const effect = node.effect === 'now' ? 'at once' : 'at the next start';
  const cells = [`\`${path}\``, describeForm(node.form), writeDefault(node), sources.join(', '), effect, node.about];
  return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;
}

/** Returns the rows of rules. */
function listRules(node: ConfigurationNode, path: string): string[] {
  if (node.kind === 'rules') return [`| \`${path}\` | [rules](headers.md) | \`[]\` |  | at the next start | ${node.about} |`];
  if (node.kind === 'named') return listRules(node.each, `${path}.<name>`);
  return node.kind === 'section' ? [...node.children].flatMap(([key, child]) => listRules(child, `${path}.${key}`)) : [];
}

function writeVariable(name: string): string {
  return `\`${name.replace('*', '<NAME>')}\``;
}
