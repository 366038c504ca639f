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
  readonly env: readonly { name: string }[];
  readonly ports: readonly { name: string; containerPort: number }[];
  readonly [field: string]: unknown;
}

interface Rule {
  readonly ports: readonly { port: string }[];
  readonly from?: readonly { podSelector?: { matchLabels: Record<string, string> } }[];
}

const golden = listGoldenFiles();
const objects: readonly KubernetesObject[] = parseAllDocuments(readFileSync(golden[0]?.path ?? '', 'utf8')).map(
  (document) => document.toJS() as KubernetesObject,
);
const ofKind = (kind: string) => new Map(objects.filter((each) => each.kind === kind).map((each) => [each.metadata.name, each]));
const containerOf = ({ spec }: KubernetesObject) => (spec['template'] as { spec: { containers: readonly [Container] } }).spec.containers[0];
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
    for (const wrong of [{ replica: 2 }, { drainDelayMs: '5s' }, { gateway: { env: { max_cost: 1 } } }, { publicUrl: 'api.example.com' }])
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

  it('gives subgraphs the addresses and the key to read each other’s events, and storage to those that keep files', () => {
    const settings = (name: string) => containerOf(ofKind('Deployment').get(`demo-${name}`) as KubernetesObject);
    for (const name of ['users', 'orders', 'content']) {
      const others = ['users', 'orders', 'content'].filter((other) => other !== name);
      const names = settings(name).env.map((each) => each.name);
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
