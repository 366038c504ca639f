/** Reads what the tests need of a Markdown page: its prose, headings, links, code spans and code blocks. No I/O. */

export interface CodeBlock {
  readonly language: string;
  readonly code: string;
  /** The text of the heading above it; empty before the first one. */
  readonly heading: string;
}

export interface Page {
  /** The lines outside code blocks and tables, with their numbers from 1 on. */
  readonly prose: readonly { readonly line: number; readonly text: string }[];
  /** The anchors of the headings, as GitHub makes them. */
  readonly anchors: ReadonlySet<string>;
  /** The targets of links, as written. */
  readonly links: readonly string[];
  /** The contents of code spans outside code blocks. */
  readonly spans: readonly string[];
  readonly blocks: readonly CodeBlock[];
}

const FENCE = /^ *(?:```+|~~~+)(\S*)/;
const LINK = /\]\(([^)\s]+)\)/g;
const DEFINITION = /^\[[^\]]+\]: (\S+)/;
const SPAN = /`([^`]+)`/g;

export function parsePage(markdown: string): Page {
  const prose: { line: number; text: string }[] = [];
  const anchors = new Map<string, number>();
  const blocks: CodeBlock[] = [];
  const texts: string[] = [];
  let heading = '';
  let open: { language: string; lines: string[] } | undefined;
  for (const [index, text] of markdown.split('\n').entries()) {
    const fence = FENCE.exec(text);
    if (open) {
      if (fence) blocks.push({ language: open.language, code: open.lines.join('\n'), heading });
      else open.lines.push(text);
      if (fence) open = undefined;
      continue;
    }
    if (fence) {
      open = { language: fence[1] ?? '', lines: [] };
      continue;
    }
    texts.push(text);
    if (!text.startsWith('|')) prose.push({ line: index + 1, text });
    const [, title] = /^#+ (.*)$/.exec(text) ?? [];
    if (title === undefined) continue;
    heading = title;
    const anchor = toAnchor(title);
    const uses = anchors.get(anchor) ?? 0;
    anchors.set(anchor, uses + 1);
    if (uses > 0) anchors.set(`${anchor}-${String(uses)}`, 1);
  }
  const outside = texts.join('\n');
  return {
    prose,
    anchors: new Set(anchors.keys()),
    links: [
      ...Array.from(outside.replace(SPAN, '').matchAll(LINK), ([, target = '']) => target),
      ...texts.flatMap((text) => DEFINITION.exec(text)?.[1] ?? []),
    ],
    spans: Array.from(outside.matchAll(SPAN), ([, span = '']) => span),
    blocks,
  };
}

/** Lower case, without punctuation, with hyphens for spaces. */
function toAnchor(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}
