/** Estimates the length of lists as expressions: by `@listSize`, else by the arguments that usually slice a list, also in input objects. */
import { type Bound, unsetSizeOf } from '@trestle/graph-checks/cost-directives';
import { type ArgumentNode, type ConstDirectiveNode, Kind, type ValueNode } from 'graphql';
import { OWN, quote, read } from '../selections/literals.ts';

/** The size that a variable gives; `d` where its value is null or negative. */
export const SIZE = `${OWN}const size=(v,d)=>typeof v==="number"&&v>=0?v:d;`;

/**
 * Returns an expression over `vars` for the largest of the slicing arguments that are given, else for the largest of their defaults, else for the
 * size that the schema assumes; undefined when the schema gives none. `assumed` is that of a list of which nothing is known.
 */
export function sizeOf(
  { listSize, assumed }: { readonly listSize: ConstDirectiveNode | undefined; readonly assumed: number },
  given: readonly ArgumentNode[],
  bounds: readonly Bound[],
): string | undefined {
  const sizes = bounds.flatMap(({ path }) => {
    const [name = '', ...inner] = path.split('.');
    return readSize(given.find((argument) => argument.name.value === name)?.value, inner) ?? [];
  });
  const unset = unsetSizeOf(listSize, bounds, assumed);
  if (sizes.length === 0) return unset === undefined ? undefined : String(unset);
  const fixed = sizes.map(Number).filter((size) => !Number.isNaN(size));
  const open = sizes.filter((size) => Number.isNaN(Number(size)));
  if (open.length === 0) return String(Math.max(...fixed));
  if (sizes.length === 1) return `size(${open.join('')},${String(unset)})`;
  const largest = `Math.max(${[...fixed.map(String), ...open.map((size) => `size(${size},-1)`)].join(',')})`;
  return fixed.length > 0 ? largest : `size(${largest},${String(unset)})`;
}

/** Returns the number at a path of input fields, or an expression for that of a variable; undefined for null and for negative numbers. */
function readSize(value: ValueNode | undefined, path: readonly string[]): string | undefined {
  if (value?.kind === Kind.VARIABLE)
    return path.reduce((object, name) => `(${object}??{})[${quote(name)}]`, read('vars', value.name.value));
  const [name, ...rest] = path;
  if (name === undefined) return value?.kind === Kind.INT && Number(value.value) >= 0 ? String(Number(value.value)) : undefined;
  return value?.kind === Kind.OBJECT ? readSize(value.fields.find((field) => field.name.value === name)?.value, rest) : undefined;
}
