/** The index of `GET /`, as JSON and as a page (contract §4). No I/O. */
import { escapeHtml } from '@trestle/service/messages/page';

/** The addresses that the index links to. */
export interface IndexAddresses {
  /** The public address of the bridge; empty when it is unknown. */
  readonly bridge: string;
  /** The public address of the gateway; undefined when it is unknown. */
  readonly gateway: string | undefined;
  /** The public address of the registry's GraphQL API; undefined when it is unknown. */
  readonly registry: string | undefined;
  /** The version prefix of the request. */
  readonly prefix: string;
}

/** The index as JSON. */
export interface Index {
  readonly name: string;
  readonly description: string;
  readonly _links: Readonly<Record<string, { readonly href: string; readonly title: string }>>;
}

/** Returns the index; without the links of the gateway and the registry when their addresses are unknown. */
export function toIndex({ bridge, gateway, registry, prefix }: IndexAddresses): Index {
  const link = (path: string, title: string) => ({ href: `${bridge}${path}`, title });
  return {
    name: 'Trestle',
    description: 'Users, posts, orders and payments over REST and GraphQL.',
    _links: {
      self: link(prefix === '' ? '/' : prefix, 'This page'),
      docs: link(`${prefix}/docs`, 'REST reference: all routes, parameters and errors'),
      ...(gateway !== undefined && { graphql: { href: gateway, title: 'GraphQL endpoint, with GraphiQL in browsers' } }),
      ...(registry !== undefined && toRegistryLinks(registry)),
      openapi: link(`${prefix}/openapi.json`, 'OpenAPI 3.1 document, for Postman and code generators'),
      health: link('/readyz', 'Readiness check: 200 when the system can serve requests'),
    },
  };
}

/** The reference page is beside the API: `docs` in place of `graphql`. */
function toRegistryLinks(registry: string) {
  return {
    registry: { href: registry, title: 'Registry of schemas: its GraphQL endpoint, with GraphiQL in browsers' },
    registryDocs: { href: new URL('docs', registry).href, title: 'Registry reference: all fields, inputs and types' },
  };
}

/** The style sheet of the page. */
export const INDEX_STYLE = `
  :root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 20%, transparent); --soft: color-mix(in srgb, currentColor 6%, transparent) }
  body { font: 17px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem }
  h1 { margin: 1rem 0 0; font-size: 2rem } p { margin: .25rem 0 1rem }
  ul { list-style: none; padding: 0; margin: 1.5rem 0 } li { margin: .75rem 0 }
  li a { display: block; padding: .9rem 1rem; border: 1px solid var(--line); border-radius: 8px; text-decoration: none; color: inherit }
  li a:hover, li a:focus { background: var(--soft) } li b { display: block } li span { overflow-wrap: anywhere; font-size: .85rem; opacity: .75 }
  pre { background: var(--soft); padding: .75rem; white-space: pre-wrap; overflow-wrap: anywhere; border-radius: 6px; font: .8rem/1.5 ui-monospace, monospace }`;

/** Returns the index as a page without scripts. */
export function toIndexPage({ name, description, _links: { self, ...links } }: Index): string {
  const items = Object.values(links).map(({ href, title }) => {
    return `<li><a href="${escapeHtml(href)}"><b>${escapeHtml(title)}</b><span>${escapeHtml(href)}</span></a></li>`;
  });
  const base = (self?.href ?? '').replace(/\/$/, '');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(name)}</title><link rel="icon" href="data:,"><style>${INDEX_STYLE}</style></head>
<body><h1>${escapeHtml(name)}</h1><p>${escapeHtml(description)}</p>
<ul>
${items.join('\n')}
</ul>
${base.startsWith('http') ? `<p>A first request:</p><pre>curl -s '${escapeHtml(base)}/posts?limit=3&amp;fields=id,title'</pre>` : ''}</body></html>
`;
}
