/** All routes, and a tree of path segments that matches a path in one step per segment. */
import { apiKeyRoutes } from './api-keys.ts';
import { authRoutes } from './auth.ts';
import { authorizationRoutes } from './authorizations.ts';
import { channelRoutes } from './channels.ts';
import { jobRoutes } from './jobs.ts';
import { eventRoutes } from './events.ts';
import { orderRoutes } from './orders.ts';
import { paymentRoutes } from './payments.ts';
import { postRoutes } from './posts.ts';
import { productRoutes } from './products.ts';
import type { Method, Route } from './route.ts';
import { searchRoutes } from './search.ts';
import { secondFactorRoutes } from './second-factor.ts';
import { securityEventRoutes } from './security-events.ts';
import { uploadRoutes } from './uploads.ts';
import { userRoutes } from './users.ts';
import { videoRoutes } from './videos.ts';
import { webhookRoutes } from './webhooks.ts';

/** All routes that run operations. `openapi/` adds those that describe them. */
export const routes: readonly Route[] = [
  ...authRoutes,
  ...secondFactorRoutes,
  ...authorizationRoutes,
  ...apiKeyRoutes,
  ...userRoutes,
  ...orderRoutes,
  ...paymentRoutes,
  ...productRoutes,
  ...postRoutes,
  ...videoRoutes,
  ...uploadRoutes,
  ...channelRoutes,
  ...jobRoutes,
  ...searchRoutes,
  ...securityEventRoutes,
  ...eventRoutes,
  ...webhookRoutes,
];

/** The routes of a path by method, and the values of its `{…}` segments. */
export interface PathMatch<R> {
  readonly byMethod: ReadonlyMap<Method, R>;
  readonly params: Readonly<Record<string, string>>;
}

interface Node<R> {
  readonly children: Map<string, Node<R>>;
  wildcard?: { readonly name: string; readonly node: Node<R> };
  readonly byMethod: Map<Method, R>;
}

/** Returns the routes of a path; undefined for an unknown path. */
export type RouteTable<R> = (segments: readonly string[]) => PathMatch<R> | undefined;

/** Creates the table of routes. Throws an Error when two have the same method and path, or name the same segment differently. */
export function createRouteTable<R extends Pick<Route, 'method' | 'path'>>(all: readonly R[]): RouteTable<R> {
  const root = createNode<R>();
  for (const route of all) {
    const node = route.path.slice(1).split('/').reduce(descend, root);
    if (node.byMethod.has(route.method)) throw new Error(`Two routes match ${route.method} ${route.path}`);
    node.byMethod.set(route.method, route);
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
  if (node.wildcard.name !== name) throw new Error(`{${name}} and {${node.wildcard.name}} name the same path segment`);
  return node.wildcard.node;
}

function createNode<R>(): Node<R> {
  return { children: new Map(), byMethod: new Map() };
}
