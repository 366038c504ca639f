/** The OpenAPI document as an HTML page without scripts and external resources (contract §4). No I/O. */
import { escapeHtml as escape } from '@trestle/service/messages/page';
import type { OpenApi, Operation } from './document.ts';
import type { JsonSchema } from './schemas.ts';

/** The style sheet of the page. */
export const REFERENCE_STYLE = `
  :root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 20%, transparent); --soft: color-mix(in srgb, currentColor 6%, transparent) }
  body { font: 16px/1.5 system-ui, sans-serif; margin: 0; display: grid; grid-template-columns: 19rem minmax(0, 60rem) }
  nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1.5rem; box-sizing: border-box; border-right: 1px solid var(--line); font-size: .85rem }
  nav ul { list-style: none; padding: 0; margin: .25rem 0 1rem }
  nav a { text-decoration: none; color: inherit } nav a:hover { text-decoration: underline } nav li a { display: grid; grid-template-columns: 4.6em minmax(0, 1fr); overflow-wrap: anywhere }
  .skip { position: absolute; left: 1rem; top: -9rem; padding: .5rem 1rem; background: Canvas } .skip:focus { top: 0; z-index: 1 }
  main { padding: 1.5rem 2.5rem 6rem } section { border-top: 1px solid var(--line); padding-top: 1rem; margin-top: 2rem }
  code, pre { font-family: ui-monospace, monospace; font-size: .85em } pre { background: var(--soft); padding: .75rem; overflow: auto; border-radius: 6px }
  table { border-collapse: collapse; width: 100%; font-size: .9rem } th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line) }
  .method { display: inline-block; min-width: 4.2em; font-weight: 700 } h3 { font-size: 1.05rem } details { margin: .5rem 0 }
  @media (max-width: 60rem) { body { display: block } nav { position: static; height: auto; max-height: 40vh; border-right: 0; border-bottom: 1px solid var(--line) } main { padding: 1rem; overflow-wrap: anywhere } }`;

/** Returns the page of a document. */
export function toReferencePage(document: OpenApi): string {
  const { info, tags, paths } = document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const groups = tags.map(({ name }) => ({ name, members: operations.filter(({ operation }) => operation.tags.includes(name)) }));
  const contents = groups.map(({ name, members }) => {
    const links = members.map(({ path, method, operation }) => {
      return `<li><a href="#${operation.operationId}"><span class="method">${method}</span> ${escape(path)}</a></li>`;
    });
    return `<strong>${escape(name)}</strong><ul>${links.join('')}</ul>`;
  });
  const sections = groups.flatMap(({ members }) => members.map((member) => toSection(document, member)));
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(info.title)} ${escape(info.version)}</title><link rel="icon" href="data:,"><style>${REFERENCE_STYLE}</style></head>
<body><a class="skip" href="#content">Skip to the content</a><nav aria-label="Contents"><p><a href="#errors">Errors</a></p>${contents.join('')}</nav>
<main id="content"><h1>${escape(info.title)} ${escape(info.version)}</h1><p>${prose(info.description)}</p>
<p>OpenAPI document: <a href="openapi.json"><code>openapi.json</code></a></p>
${sections.join('\n')}
${toErrors(document)}</main></body></html>
`;
}

interface Member {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}

function toSection(document: OpenApi, { path, method, operation }: Member): string {
  const { operationId, summary, requestBody, parameters, responses } = operation;
  const security = operation['security'] as Readonly<Record<string, readonly string[]>>[];
  const needsCaller = !security.some((each) => Object.keys(each).length === 0);
  const scopes = security.flatMap(({ bearer }) =>
    bearer && bearer.length > 0 ? [bearer.map((scope) => `\`${scope}\``).join(' and ')] : [],
  );
  const needsScopes = scopes.length > 0 ? ` Requires the scope ${scopes.join(', or ')}.` : '';
  const body = requestBody && firstExample(requestBody);
  const [status, success] = Object.entries(responses).find(([code]) => code.startsWith('2')) ?? [];
  const content = success && firstExample(success);
  return `<section id="${operationId}"><h2><span class="method">${method}</span> <code>${escape(path)}</code></h2>
<p>${prose(summary)}.${needsCaller ? ' Requires a credential.' : ''}${prose(needsScopes)} ${prose(textOf(operation['description']))}</p>
${toParameterTable(document, parameters)}
<h3>Request</h3><pre>${escape(toCurl(document, { path, method, operation, body }))}</pre>
${status === undefined ? '' : `<h3>Response ${status}</h3>${content === undefined ? '' : `<pre>${escape(JSON.stringify(content, null, 2))}</pre>`}`}
<details><summary>All statuses</summary><table>${Object.entries(responses)
    .map(([code, response]) => `<tr><td>${code}</td><td>${prose(textOf(resolve(document, response)['description']))}</td></tr>`)
    .join('')}</table></details></section>`;
}

function toParameterTable(document: OpenApi, parameters: readonly JsonSchema[]): string {
  const rows = parameters.map((parameter) => {
    const { name, in: place, description, required, schema } = resolve(document, parameter) as JsonSchema & { schema: JsonSchema };
    return `<tr><td><code>${escape(String(name))}</code>${required === true ? ' *' : ''}</td><td>${escape(String(place))}</td><td>${escape(toTypeText(schema))}</td><td>${prose(String(description))}</td></tr>`;
  });
  return `<details><summary>Parameters</summary><table><tr><th>Name</th><th>In</th><th>Type</th><th>Description</th></tr>${rows.join('')}</table></details>`;
}

/** Returns the type of a parameter with its values or bounds: `list of: id | -id`, `integer, 1 to 100`. */
function toTypeText(schema: JsonSchema): string {
  const { type, maxLength, format } = schema;
  const [minimum, maximum] = [schema['minimum'] as number | undefined, schema['maximum'] as number | undefined];
  const items = schema['items'] as JsonSchema | undefined;
  if (items) return `list of: ${toTypeText(items)}`;
  if (Array.isArray(schema['enum'])) return (schema['enum'] as (string | null)[]).filter((value) => value !== null).join(' | ');
  const name = [type].flat().join(' or ');
  const shown = typeof format === 'string' && format !== 'int32' ? `${name} (${format})` : name;
  if (minimum !== undefined || maximum !== undefined)
    return `${shown}, ${maximum !== undefined ? `${String(minimum ?? 0)} to ${String(maximum)}` : `from ${String(minimum)}`}`;
  return typeof maxLength === 'number' ? `${shown}, at most ${String(maxLength)} characters` : shown;
}

/** Returns a command to paste. Its ids are those of the demo data. */
function toCurl(document: OpenApi, { path, method, operation, body }: Member & { body: unknown }): string {
  const [server] = document['servers'] as { url: string }[];
  // A command needs an absolute URL.
  const address = server?.url.startsWith('/') === false ? server.url : `http://localhost:3000${server?.url ?? ''}`;
  const needsKey = operation.parameters.some((parameter) => parameter['name'] === 'Idempotency-Key' && parameter['required'] === true);
  const parts = [
    `curl -s -i ${method === 'GET' ? '' : `-X ${method} `}"${address}${path.replace(/\{(\w+)\}/g, (_, name: string) => exampleOfParameter(operation, name))}"`,
    ...(JSON.stringify(operation['security']).includes('{}') ? [] : ['-H "authorization: Bearer $TOKEN"']),
    ...(needsKey ? ['-H "idempotency-key: $(uuidgen)"'] : []),
    ...(body === undefined ? [] : [`-H 'content-type: application/json' \\\n  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`]),
  ];
  return parts.join(' \\\n  ');
}

function exampleOfParameter({ parameters }: Operation, name: string): string {
  return String(parameters.find((parameter) => parameter['name'] === name)?.['example']);
}

function toErrors({ components }: OpenApi): string {
  const rows = Object.entries(components['responses'] ?? {}).flatMap(([code, { content, description }]) => {
    const problem = (content as Record<string, { example: { status: number } }> | undefined)?.['application/problem+json']?.example;
    return problem
      ? [`<tr><td>${String(problem.status)}</td><td><code>${code}</code></td><td>${prose(String(description))}</td></tr>`]
      : [];
  });
  return `<section id="errors"><h2>Errors</h2><pre>${escape('{"error": {"code", "message", "details": [{"field", "message"}], "requestId"}}')}</pre>
<table><tr><th>Status</th><th>Code</th><th>Meaning</th></tr>${rows.join('')}</table></section>`;
}

function firstExample(holder: JsonSchema): unknown {
  return (holder['content'] as Record<string, { example?: unknown }> | undefined)?.['application/json']?.example;
}

function resolve({ components }: OpenApi, value: JsonSchema): JsonSchema {
  const [, , kind = '', name = ''] = typeof value['$ref'] === 'string' ? value['$ref'].split('/') : [];
  return components[kind]?.[name] ?? value;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Returns escaped text with backticks as code elements. */
function prose(text: string): string {
  return escape(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}
