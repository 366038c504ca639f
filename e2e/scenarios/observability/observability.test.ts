/** The dashboard and the alerts of deploy/observability: every metric and label that they name is in what the running system exports. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { request } from '../../stack/clients/client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import { ROOT, read } from '../documents/repository.ts';

const run = promisify(execFile);
const FOLDER = 'deploy/observability';
const RULES = 'prometheus-rules.yml';

interface Dashboard {
  readonly panels: readonly { readonly id: number; readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
  readonly templating: { readonly list: readonly { readonly query: string | { readonly query: string } }[] };
}
interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}

const dashboard = JSON.parse(read(`${FOLDER}/grafana-dashboard.json`)) as Dashboard;
const alerts = (parse(read(`${FOLDER}/${RULES}`)) as Rules).groups.flatMap(({ rules }) => rules);
const ofDashboard = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
const variables = dashboard.templating.list.map(({ query }) => (typeof query === 'string' ? query : query.query));

const NAME = /\b(?:trestle|nodejs|process|http)_\w+/g;
/** Prometheus adds these to every series. */
const ADDED = new Set(['job', 'instance', 'le']);

let stack: LeasedStack;
let pages: string;
beforeAll(async () => {
  stack = await leaseStack();
  await stack.call('GET', '/v1/products');
  await stack.graphql('{ __typename }');
  const urls = [stack.gateway, stack.rest, ...Object.values(stack.subgraphs).map(({ url }) => new URL(url).origin)];
  pages = (await Promise.all(urls.map((url) => request(`${url}/metrics`, { method: 'GET' })))).map(({ text }) => text).join('\n');
});
afterAll(() => stack.stop());

/** Returns the labels of a metric's series in the code's order; undefined for an unknown metric. */
function labelsOf(name: string): ReadonlySet<string> | undefined {
  const family = name.replace(/_(?:bucket|count|sum)$/, '');
  if (![name, family].some((each) => pages.includes(`# TYPE ${each} `))) return undefined;
  const series = pages.split('\n').filter((line) => line.startsWith(`${name}{`));
  return new Set(series.flatMap((line) => [...line.matchAll(/[{,](\w+)=/g)].map(([, label = '']) => label)));
}

describe('the dashboard and the alerts', () => {
  it('name metrics that the running system exports', () => {
    const named = [...ofDashboard, ...variables, ...alerts.map(({ expr }) => expr)].flatMap((expr) => expr.match(NAME) ?? []);
    expect(new Set(named).size).toBeGreaterThan(20);
    expect([...new Set(named)].filter((name) => !labelsOf(name))).toEqual([]);
  });

  it('select by labels that these metrics have, where there are series', () => {
    for (const expr of [...ofDashboard, ...alerts.map((alert) => alert.expr)])
      for (const [, name = '', matchers = ''] of expr.matchAll(/\b(\w+)\{([^}]*)\}/g)) {
        const labels = labelsOf(name);
        const used = [...matchers.matchAll(/\b(\w+)(?:=~|!~|!=|=)/g)].map(([, label = '']) => label);
        if (labels && labels.size > 0) expect([expr, used.filter((label) => !labels.has(label) && !ADDED.has(label))]).toEqual([expr, []]);
      }
  });

  it('have a panel each with a title and a query, and an alert each with a test', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    for (const { title, targets } of dashboard.panels) expect([title, targets.length > 0 && title !== '']).toEqual([title, true]);
    const tests = read(`${FOLDER}/prometheus-rules.test.yml`);
    for (const { alert } of alerts) expect(tests).toContain(`alertname: ${alert}`);
  });
});

/** Debian's package `prometheus` has it; PROMTOOL names another one. */
const PROMTOOL = [
  process.env['PROMTOOL'] ?? '',
  ...(process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'promtool')),
].find((path) => path !== '' && existsSync(path));

describe('promtool', () => {
  const check = async (...args: string[]) => (await run(PROMTOOL ?? '', args, { cwd: join(ROOT, FOLDER) })).stdout;

  if (PROMTOOL === undefined)
    process.stderr.write('\n*** NO PROMTOOL: it is not installed (apt-get install prometheus). The alerts are not evaluated. ***\n\n');

  (PROMTOOL === undefined ? it.skip : it)('accepts the rules, and the alerts fire when they should', async () => {
    expect(await check('check', 'rules', RULES)).toContain(`SUCCESS: ${String(alerts.length)} rules found`);
    expect(await check('test', 'rules', 'prometheus-rules.test.yml')).toContain('SUCCESS');
  });

  (PROMTOOL === undefined ? it.skip : it)('parses every query of the dashboard', async () => {
    const toQuery = (expr: string) => expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'trestle.*');
    for (const expr of ofDashboard) expect([expr, await checkQuery(toQuery(expr))]).toEqual([expr, '']);
  });

  /** `promtool promql format` needs a newer version: a rule with the query is checked instead. */
  async function checkQuery(expr: string): Promise<string> {
    const rules = JSON.stringify({ groups: [{ name: 'g', rules: [{ record: 'r', expr }] }] });
    const checking = run('bash', ['-c', '"$0" check rules <(printf %s "$1")', PROMTOOL ?? '', rules]);
    return checking.then(
      () => '',
      (error: unknown) => String(error),
    );
  }
});
