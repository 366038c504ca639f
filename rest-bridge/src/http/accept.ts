/** Reads `Accept` and tells how welcome a media type is (RFC 9110 §12.5.1). No I/O. */

export interface AcceptRange {
  /** `*` for any. */
  readonly type: string;
  readonly subtype: string;
  /** 0 to 1; 0 is "not this". */
  readonly quality: number;
}

const TOKEN = "[\\w!#$%&'*+.^`|~-]+";
const RANGE = new RegExp(`^(${TOKEN})/(${TOKEN})$`);
const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;

/** The ranges of the header; malformed ones are passed over. Without a header, or without any range, everything is welcome. */
export function readAccept(header: string | undefined): readonly AcceptRange[] {
  const ranges = (header ?? '').split(',').flatMap((part): AcceptRange[] => {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    const [, type, subtype] = RANGE.exec(name.toLowerCase()) ?? [];
    if (type === undefined || subtype === undefined || (type === '*' && subtype !== '*')) return [];
    const weight = parameters.find((parameter) => /^q=/i.test(parameter));
    return [{ type, subtype, quality: weight === undefined ? 1 : Number(WEIGHT.exec(weight)?.[1] ?? 0) }];
  });
  return ranges.length > 0 ? ranges : [{ type: '*', subtype: '*', quality: 1 }];
}

/** How welcome `mediaType` is, 0 to 1: the most specific range decides. */
export function accepts(ranges: readonly AcceptRange[], mediaType: string): number {
  const [type, subtype] = mediaType.toLowerCase().split('/');
  const matching = ranges
    .map((range) => ({ range, specificity: specificityOf(range, { type, subtype }) }))
    .filter(({ specificity }) => specificity > 0)
    .sort((a, b) => b.specificity - a.specificity);
  return matching[0]?.range.quality ?? 0;
}

function specificityOf(range: AcceptRange, { type, subtype }: { type: string | undefined; subtype: string | undefined }): number {
  if (range.type === '*') return 1;
  if (range.type !== type) return 0;
  if (range.subtype === '*') return 2;
  return range.subtype === subtype ? 3 : 0;
}
