/** Labels of progressive `@override`. No I/O. */
import { toShare } from '../launches/client-share.ts';
import type { RequestContext } from '../request/context.ts';

/** In the identity of a request, as the name of a header: the labels that extensions have set. No client can send a header of this name. */
export const SET_LABELS = 'override labels';

/** Which labels are active. */
export interface LabelSettings {
  /** For every request. */
  readonly active: readonly string[];
  /** The header, in lower case, with labels for one request; undefined when no header counts. */
  readonly header: string | undefined;
}

/** The request that labels are chosen for. */
export type LabelledRequest = Pick<RequestContext, 'identity' | 'requestId'>;

const NO_LABELS: readonly string[] = [];

/**
 * Returns a function that chooses the labels of one request: those that are active, those of its header and of extensions, and `percent(n)` for n of a
 * hundred requests. It chooses the same for equal requests. Without a request it chooses those that are active.
 */
export function createLabelChoice(
  known: readonly string[],
  { active, header }: LabelSettings,
): (request: LabelledRequest | undefined) => readonly string[] {
  const fixed = known.filter((label) => active.includes(label));
  if (known.length === 0) return () => NO_LABELS;
  const percents = new Map(
    known.flatMap((label): [string, number][] => {
      const percent = /^percent\((\d+(?:\.\d+)?)\)$/.exec(label)?.[1];
      return percent === undefined ? [] : [[label, Number(percent)]];
    }),
  );
  return (request) => {
    if (!request) return fixed;
    const named = readNamed(request.identity, header);
    if (named.length === 0 && percents.size === 0) return fixed;
    const drawn = percents.size === 0 ? 100 : toShare(request.requestId);
    return known.filter((label) => fixed.includes(label) || named.includes(label) || drawn < (percents.get(label) ?? 0));
  };
}

function readNamed(identity: readonly string[], header: string | undefined): readonly string[] {
  let named = NO_LABELS;
  for (let i = 0; i + 1 < identity.length; i += 2)
    if (identity[i] === SET_LABELS || (header !== undefined && identity[i] === header))
      named = [...named, ...(identity[i + 1] ?? '').split(',').map((label) => label.trim())];
  return named;
}
