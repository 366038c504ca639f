/** The Helm chart in deploy/helm: its golden files are up to date, and what it installs is safe and complete. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse, parseAllDocuments } from 'yaml';
import { listGoldenFiles, renderAll, toGoldenText } from '../../deploy/helm/golden.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CHART = join(ROOT, 'deploy/helm/trestle');

interface KubernetesObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: Record<string, unknown>;
}

interface Container {
  readonly command: readonly string[];
  readonly env: readonly { name: string; value?: string; valueFrom?: object }[];
  readonly ports: readonly { name: string; containerPort: number }[];
  readonly [field: string]: unknown;
}

interface Rule {
  readonly ports: readonly { port: string }[];
  readonly from?: readonly { podSelector?: { matchLabels: Record<string, string> } }[];
}

const golden = listGoldenFiles();
const readObjects = (name: string): readonly KubernetesObject[] =>
  parseAllDocuments(readFileSync(golden.find((file) => file.name === name)?.path ?? '', 'utf8')).map(
    (document) => document.toJS() as KubernetesObject,
  );
const [objects, production] = [readObjects('defaults.yaml'), readObjects('production.yaml')];
const ofKind = (kind: string, among = objects) =>
  new Map(among.filter((each) => each.kind === kind).map((each) => [each.metadata.name, each]));
const containerOf = ({ spec }: KubernetesObject) => (spec['template'] as { spec: { containers: readonly [Container] } }).spec.containers[0];
/** Returns the settings of a process by name: their text, or where Kubernetes takes it from. */
const settingsOf = (name: string, among = objects) =>
  Object.fromEntries(
    containerOf(ofKind('Deployment', among).get(`demo-${name}`) as KubernetesObject).env.map((each) => [
      each.name,
      each.value ?? each.valueFrom,
    ]),
  );
const fromServices = (key: string) => ({ secretKeyRef: { name: 'trestle-services', key, optional: true } });
const PROCESSES = ['demo-content', 'demo-gateway', 'demo-orders', 'demo-rest-bridge', 'demo-users'];

describe('the golden files of the Helm chart', () => {
  it.each(golden)('are rendered from the present chart: $name', ({ path, sources }) => {
    expect(readFileSync(path, 'utf8').split('\n', 1)[0]?.split(': ')[1]).toBe(sources);
  });

  it('are what Helm, or Go with its template library, renders', () => {
    const rendered = renderAll(golden);
    if (!rendered) process.stderr.write('\n*** Neither Helm nor Go with sprig is installed: the chart was not rendered again. ***\n\n');
    for (const [i, { path, sources }] of golden.entries())
      if (rendered) expect(toGoldenText(rendered[i] ?? '', sources)).toBe(readFileSync(path, 'utf8'));
  });
});

describe('the values of the Helm chart', () => {
  const validate = new Ajv2020({ allowUnionTypes: true }).compile(
    JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as object,
  );
  const values = () => parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'), { merge: true }) as Record<string, object>;

  it('meet their schema, and so do those of the examples', () => {
    const examples = golden.flatMap((file) => file.values.map((path) => parse(readFileSync(path, 'utf8')) as object));
    for (const each of [values(), ...examples]) expect([validate(each), validate.errors]).toEqual([true, null]);
  });

  it('are refused with an unknown name, a wrong type or a setting in lower case', () => {
    for (const wrong of [
      { replica: 2 },
      { drainDelayMs: '5s' },
      { gateway: { env: { max_cost: 1 } } },
      { users: { startupSeconds: 0 } },
      { publicUrl: 'api.example.com' },
    ])
      expect(validate({ ...values(), ...wrong })).toBe(false);
  });
});

describe('what the Helm chart installs', () => {
  it('is each process, with a Service, a PodDisruptionBudget, an autoscaler and a NetworkPolicy', () => {
    for (const kind of ['Deployment', 'Service', 'PodDisruptionBudget', 'HorizontalPodAutoscaler', 'NetworkPolicy'])
      expect([kind, ...ofKind(kind).keys()].sort()).toEqual([kind, ...PROCESSES].sort());
  });

  it('starts the file that the image has for each process, without rights on the node', () => {
    for (const [name, deployment] of ofKind('Deployment')) {
      const { command, securityContext, livenessProbe, readinessProbe } = containerOf(deployment);
      const folder = name.replace(/^demo-/, '');
      expect(command.at(-1)).toMatch(new RegExp(`^(subgraphs/)?${folder}/dist/bundle/main\\.js$`));
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect({ livenessProbe, readinessProbe }).toMatchObject({
        livenessProbe: { httpGet: { path: '/livez' } },
        readinessProbe: { httpGet: { path: '/readyz' } },
      });
    }
  });

  it('sets only settings that .env.example explains', () => {
    const known = new Set(readFileSync(join(ROOT, '.env.example'), 'utf8').match(/^[A-Z0-9_]+(?==)/gm));
    const set = [...ofKind('Deployment').values()].flatMap((each) => containerOf(each).env.map(({ name }) => name));
    expect(set.filter((name) => !known.has(name))).toEqual([]);
  });

  it('gives each process numbers as they are written: 0, fractions and millions', () => {
    for (const name of PROCESSES) expect(settingsOf(name.replace(/^demo-/, ''), production)['OTEL_TRACES_SAMPLER_ARG']).toBe('0.25');
    expect(settingsOf('gateway', production)).toMatchObject({ MAX_COST: '2000000', MIN_BODY_BYTES_PER_SECOND: '0' });
  });

  it('gives the gateway its own public address, and the bridge that of both', () => {
    const [gateway, bridge] = [settingsOf('gateway', production), settingsOf('rest-bridge', production)];
    expect(gateway).toMatchObject({ PUBLIC_URL: 'https://graphql.example.com' });
    expect(gateway).not.toHaveProperty('PUBLIC_GATEWAY_URL');
    expect(bridge).toMatchObject({ PUBLIC_URL: 'https://api.example.com', PUBLIC_GATEWAY_URL: 'https://graphql.example.com/graphql' });
    expect(settingsOf('gateway')).not.toHaveProperty('PUBLIC_URL');
  });

  it('takes addresses and tokens of other services from their Secret, unless a value sets them', () => {
    for (const name of ['gateway', 'rest-bridge']) {
      expect(settingsOf(name)).toMatchObject({ REDIS_URL: fromServices('REDIS_URL') });
      expect(settingsOf(name, production)).toMatchObject({ REDIS_URL: 'redis://redis:6379' });
    }
    const secrets = readFileSync(join(ROOT, '.env.example'), 'utf8').match(/^[A-Z0-9_]+(?:_TOKEN|_KEY)(?==$)/gm) ?? [];
    const taken = PROCESSES.map((name) => settingsOf(name.replace(/^demo-/, '')));
    for (const name of secrets) expect(taken.map((settings) => settings[name])).toContainEqual(fromServices(name));
    for (const each of [...ofKind('Deployment').values(), ...ofKind('Deployment', production).values()]) {
      const names = containerOf(each).env.map(({ name }) => name);
      expect(names.length).toBe(new Set(names).size);
    }
    const keys = [...ofKind('Deployment').values()].flatMap((each) => containerOf(each).env.filter(({ valueFrom }) => valueFrom));
    const documented = readFileSync(join(CHART, 'values.yaml'), 'utf8');
    for (const { name } of keys.filter((each) => !each.name.endsWith('_DATABASE_URL'))) expect(documented).toContain(name);
  });

  it('lets a subgraph migrate for half an hour before it must listen', () => {
    for (const name of PROCESSES) {
      const { startupProbe } = containerOf(ofKind('Deployment').get(name) as KubernetesObject);
      const { periodSeconds, failureThreshold } = startupProbe as { periodSeconds: number; failureThreshold: number };
      expect([name, periodSeconds * failureThreshold]).toEqual([name, /gateway|bridge/.test(name) ? 120 : 1800]);
    }
  });

  it('gives subgraphs the addresses and the key to read each other’s events, and storage to those that keep files', () => {
    for (const name of ['users', 'orders', 'content']) {
      const others = ['users', 'orders', 'content'].filter((other) => other !== name);
      const names = Object.keys(settingsOf(name));
      expect(names).toEqual(expect.arrayContaining(['EVENTS_KEY_FILE', ...others.map((other) => `EVENTS_URL_${other.toUpperCase()}`)]));
      expect(names.includes('FILES_DIR')).toBe(name !== 'orders');
    }
    expect([...ofKind('PersistentVolumeClaim').keys()]).toEqual(['demo-files']);
  });

  it('sets every setting of docker-compose.yml in the same process', () => {
    const compose = parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
      services: Record<string, { environment: Record<string, string> }>;
    };
    // Values that are empty by default, which the chart leaves out.
    const EMPTY = new Set(['REDIS_URL', 'PUBLIC_URL', 'OAUTH_ISSUER', 'MAIL_FROM']);
    for (const [name, deployment] of ofKind('Deployment')) {
      const set = new Set(containerOf(deployment).env.map((each) => each.name));
      const inCompose = Object.keys(compose.services[name.replace(/^demo-/, '')]?.environment ?? {});
      expect(inCompose.filter((each) => !set.has(each) && !EMPTY.has(each))).toEqual([]);
    }
  });

  it('keeps subgraphs private: only processes of the release may connect to them', () => {
    for (const subgraph of ['users', 'orders', 'content']) {
      const rules = ofKind('NetworkPolicy').get(`demo-${subgraph}`)?.spec['ingress'] as readonly Rule[];
      expect(rules).toHaveLength(1);
      for (const { podSelector } of rules[0]?.from ?? [{}])
        expect(podSelector?.matchLabels).toMatchObject({ 'app.kubernetes.io/instance': 'demo' });
      expect(rules[0]?.from?.length).toBeGreaterThan(0);
    }
  });
});
