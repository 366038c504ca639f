import { describe, expect, it } from '@jest/globals';
import { findOtherGateway } from './other-gateways.ts';
import { createSettingTree, listSettings } from '../entries/setting-tree.ts';

const NAMES = [
  ...[
    'demand_control',
    'forbid_mutations',
    'preview_file_uploads',
    'plugins',
    'connectors',
    'telemetry.apollo',
    'telemetry.exporters',
    'authentication.router',
  ],
  ...['authorization.require_authentication', 'headers.all', 'limits.router', 'cors', 'traffic_shaping'],
  ...['listen_addr', 'execution_config', 'rate_limit', 'security', 'telemetry.tracing', 'overrides', 'playground', 'modules', 'graph'],
  ...['graphqlEndpoint', 'propagateHeaders', 'jwt', 'port', 'upstreamTimeout', 'rateLimiting', 'maskedErrors'],
];
const tree = createSettingTree();
const settings = new Set(listSettings(tree).map(({ path }) => path));
const isHere = (name: string) =>
  settings.has(name) ||
  [...settings].some((path) => path.startsWith(`${name}.`)) ||
  ['headers.request', 'headers.response', 'subgraphs.<name>.headers', 'subgraphs.<name>', 'extensions.coprocessor'].includes(name);

describe('findOtherGateway', () => {
  it.each(NAMES)('names only settings and sections that exist for %s', (name) => {
    const hint = findOtherGateway(name) ?? '';
    expect(hint).toMatch(/^; it is a name of another gateway: /);
    const named = [...hint.matchAll(/`([a-z][A-Za-z.<>]+)`/g)].map(([, each]) => each ?? '');
    expect(named.filter((each) => !isHere(each))).toEqual([]);
  });

  it('has no hint for names that this gateway has, and for those of none', () => {
    const hints = [...settings, ...tree.children.keys(), 'nothing', 'constructor'].map(findOtherGateway);
    expect(hints.filter((hint) => hint !== undefined)).toEqual([]);
  });
});
