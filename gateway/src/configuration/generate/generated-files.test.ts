import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createJsonSchema } from './json-schema.ts';
import { loadConfiguration } from '../load-configuration.ts';
import { createSettingTree, listSettings } from '../entries/setting-tree.ts';
import { settings } from '../settings/settings.ts';
import { writeTemplate } from './template.ts';

const tree = createSettingTree();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-template-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const load = async (text: string) => {
  await writeFile(join(folder, 'trestle.yaml'), text);
  return loadConfiguration(join(folder, 'trestle.yaml'), {});
};

describe('the settings of a configuration file', () => {
  it('are all settings of the environment, each once', () => {
    const places = listSettings(tree);
    const names = places.flatMap(({ node }) => node.variables).filter((name) => !name.endsWith('*'));
    expect(names.sort()).toEqual(
      Object.keys(settings)
        .filter((name) => name !== 'TRESTLE_CONFIG')
        .sort(),
    );
    expect(new Set(places.map(({ path }) => path)).size).toBe(places.length);
  });

  it('have a sentence each', () => {
    for (const { node } of listSettings(tree)) expect(node.about).toMatch(/^[A-Z].*\.$/);
  });

  it('are in sections that have a sentence each', () => {
    for (const [name, section] of tree.children) expect([name, section.about]).toEqual([name, expect.stringMatching(/^[A-Z].*\.$/)]);
  });
});

describe('the pages for operators of other gateways', () => {
  it.each(['from-apollo-router.md', 'from-hive-gateway.md', 'from-cosmo-router.md'])('name settings that exist (%s)', async (page) => {
    const text = await readFile(new URL(`../../../../docs/gateway/${page}`, import.meta.url), 'utf8');
    const cells = text.split('\n').flatMap((line) => line.split('|')[2] ?? []);
    const named = cells.flatMap((cell) => [...cell.matchAll(/`([\w.<>]+)/g)].map(([, name]) => name));
    expect(named.length).toBeGreaterThan(30);
    const sections = [
      'traffic.tls',
      'subgraphs.<name>.tls',
      'traffic.awsSigV4',
      'subgraphs.<name>.awsSigV4',
      'headers.request',
      'headers.response',
      'subgraphs.<name>.headers.request',
    ];
    const known = [...sections, ...listSettings(tree).map(({ path }) => path)];
    expect(named.filter((name) => !known.includes(name ?? ''))).toEqual([]);
  });
});

describe('writeTemplate', () => {
  const template = writeTemplate(tree, './trestle.schema.json');

  it('is valid as it is written, and sets only what a first start needs', async () => {
    const { values, faults } = await load(template);
    expect(faults).toEqual([]);
    expect(values).toEqual({ SUPERGRAPH_FILE: join(folder, 'supergraph.graphql'), AUTH: 'off' });
  });

  it('is valid with every setting that has a default, and they are the defaults', async () => {
    const { values, faults } = await load(template.replaceAll(/^( +)# /gm, '$1'));
    // Files that a setting names must exist: their examples are empty, which counts as unset.
    expect(faults).toEqual([]);
    const named = Object.entries(settings).filter(([name]) => name in values && name !== 'SUPERGRAPH_FILE' && name !== 'AUTH');
    expect(named.length).toBeGreaterThan(40);
    for (const [name, reader] of named) {
      const byDefault = reader.safeParse(undefined);
      if (byDefault.success && byDefault.data !== undefined) expect([name, reader.parse(values[name])]).toEqual([name, byDefault.data]);
    }
  });
});

describe('createJsonSchema', () => {
  it('has every setting with its meaning', () => {
    const text = JSON.stringify(createJsonSchema(tree));
    for (const { node } of listSettings(tree)) expect(text).toContain(JSON.stringify(node.about).slice(1, -1));
  });
});
