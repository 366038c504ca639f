/** Pages of the list of tools (MCP, "Pagination"). A cursor is the name of the last tool of a page, so that any process can continue it. No I/O. */
import type { Tool } from './tools.ts';

const PAGE_SIZE = 100;
/** A page ends before this size; one tool takes less. */
const MAX_PAGE_BYTES = 512 * 1024;

/** A tool as MCP describes it. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Tool['inputSchema'];
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint: boolean; readonly openWorldHint: boolean };
}

export interface Page {
  readonly tools: readonly ListedTool[];
  readonly nextCursor: string | undefined;
}

/** Returns the tools behind a cursor, in the order of their names; undefined for a cursor that is none of ours. */
export function readPage(all: ReadonlyMap<string, Tool>, cursor: string | undefined): Page | undefined {
  const after = cursor === undefined ? '' : Buffer.from(cursor, 'base64url').toString();
  if (cursor !== undefined && (!/^\w{1,128}$/.test(after) || toCursor(after) !== cursor)) return undefined;
  const tools: ListedTool[] = [];
  let bytes = 0;
  let last = '';
  for (const tool of all.values()) {
    if (tool.name <= after) continue;
    const listed = toListed(tool);
    bytes += Buffer.byteLength(JSON.stringify(listed));
    if (tools.length === PAGE_SIZE || bytes > MAX_PAGE_BYTES) return { tools, nextCursor: toCursor(last) };
    tools.push(listed);
    last = tool.name;
  }
  return { tools, nextCursor: undefined };
}

function toCursor(name: string): string {
  return Buffer.from(name).toString('base64url');
}

function toListed({ name, description, inputSchema, kind }: Tool): ListedTool {
  const isQuery = kind === 'query';
  return { name, description, inputSchema, annotations: { readOnlyHint: isQuery, destructiveHint: !isQuery, openWorldHint: false } };
}
