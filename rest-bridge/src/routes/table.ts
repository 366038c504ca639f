/** All rows, compiled into one tree of path segments: matching costs a step a segment, whatever the number of rows. */
import { announcedRows } from './announced.ts';
import { authRows } from './auth.ts';
import { channelRows } from './channels.ts';
import { orderRows } from './orders.ts';
import { paymentRows } from './payments.ts';
import { postRows } from './posts.ts';
import { productRows } from './products.ts';
import type { Method, Row } from './row.ts';
import { searchRows } from './search.ts';
import { userRows } from './users.ts';
import { videoRows } from './videos.ts';

export const rows: readonly Row[] = [
  ...authRows,
  ...userRows,
  ...orderRows,
  ...paymentRows,
  ...productRows,
  ...postRows,
  ...videoRows,
  ...channelRows,
  ...searchRows,
  ...announcedRows,
];

/** What stands behind a path: its rows by method, and the values of its `{…}` segments. */
export interface Match<R> {
  readonly byMethod: ReadonlyMap<Method, R>;
  readonly params: Readonly<Record<string, string>>;
}

interface Node<R> {
  readonly children: Map<string, Node<R>>;
  wildcard?: { readonly name: string; readonly node: Node<R> };
  readonly byMethod: Map<Method, R>;
}

export type Table<R> = (segments: readonly string[]) => Match<R> | undefined;

/** Throws at start when two rows are the same, or name one segment differently. */
export function createTable<R extends Pick<Row, 'method' | 'path'>>(all: readonly R[]): Table<R> {
  const root = createNode<R>();
  for (const row of all) {
    const node = row.path.slice(1).split('/').reduce(descend, root);
    if (node.byMethod.has(row.method)) throw new Error(`There are two rows for ${row.method} ${row.path}`);
    node.byMethod.set(row.method, row);
  }
  return (segments) => {
    const params: Record<string, string> = {};
    let node = root;
    for (const segment of segments) {
      const next = node.children.get(segment);
      if (!next && node.wildcard) params[node.wildcard.name] = segment;
      const found = next ?? node.wildcard?.node;
      if (!found) return undefined;
      node = found;
    }
    return node.byMethod.size > 0 ? { byMethod: node.byMethod, params } : undefined;
  };
}

function descend<R>(node: Node<R>, segment: string): Node<R> {
  const name = /^\{(\w+)\}$/.exec(segment)?.[1];
  if (name === undefined) {
    const child = node.children.get(segment) ?? createNode<R>();
    node.children.set(segment, child);
    return child;
  }
  node.wildcard ??= { name, node: createNode<R>() };
  if (node.wildcard.name !== name) throw new Error(`{${name}} and {${node.wildcard.name}} stand in the same place`);
  return node.wildcard.node;
}

function createNode<R>(): Node<R> {
  return { children: new Map(), byMethod: new Map() };
}
