import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { type Config, readConfig } from './config.ts';
import type { AcceptedFiles } from './configuration/file/accepted-files.ts';
import type { FileWatch } from './configuration/file/watch-file.ts';
import { PlannerUnavailable } from './plan/threads/planner-unavailable.ts';
import { watchConfigurations } from './watch-configuration.ts';

const POLICIES = { before: '{"vip":[{}]}', after: '{"vip":[]}' };

let folder: string;
let watching: FileWatch | undefined;
const file = (name: string) => join(folder, name);
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-watch-configuration-'));
  await writeFile(file('policies.json'), POLICIES.before);
});
afterEach(async () => {
  watching?.stop();
  await rm(folder, { recursive: true, force: true });
});

const toText = (maxAliases: number) =>
  `limits: { maxAliases: ${String(maxAliases)} }\nauthorization: { policiesFile: ${JSON.stringify(file('policies.json'))} }\n`;
async function replaceFile(name: string, text: string): Promise<void> {
  await writeFile(file(`${name}.next`), text);
  await rename(file(`${name}.next`), file(name));
}

interface Applied {
  readonly aliases: number;
  readonly policies: string | undefined;
}
type Apply = (next: Applied) => void;

/** Starts with a file for 5 aliases and watches it. `apply` gets each configuration, and throws to refuse it. */
async function watch(apply: Apply, applied?: AcceptedFiles) {
  await writeFile(file('trestle.yaml'), toText(5));
  const read = (accepted?: AcceptedFiles) =>
    readConfig(
      ['--config', file('trestle.yaml'), '--auth', 'off', '--supergraph', 'supergraph.graphql'],
      { LOG_LEVEL: 'silent' },
      accepted,
    );
  const config = await read();
  const log = createLog({ service: 'test', level: 'silent' });
  const graph = {
    place: { name: undefined },
    apply: ({ limits, POLICIES_FILE: policies }: Config) =>
      new Promise<void>((resolve) => {
        apply({ aliases: limits.maxAliases, policies: policies?.source });
        resolve();
      }),
  };
  const reported: AcceptedFiles[] = [];
  const onApplied = (files: AcceptedFiles) => reported.push(files);
  watching = await watchConfigurations({ config, read, applied, onApplied, graphs: [graph], log });
  return reported;
}

/** Returns a function that refuses its first configuration with this error, and resolves with the first two. */
function refuseFirst(error: Error) {
  const given: Applied[] = [];
  let end: (given: readonly Applied[]) => void;
  const second = new Promise<readonly Applied[]>((resolve) => (end = resolve));
  const apply: Apply = (next) => {
    if (given.push(next) === 1) throw error;
    end(given);
  };
  return { apply, second };
}

describe('watchConfigurations', () => {
  it('applies changed policies again when there was no memory for a planner', async () => {
    const { apply, second } = refuseFirst(new PlannerUnavailable('no memory'));
    await watch(apply);
    await replaceFile('policies.json', POLICIES.after);
    expect(await second).toEqual([1, 2].map(() => ({ aliases: 5, policies: POLICIES.after })));
  });

  it('applies a changed configuration again when there was no memory for a planner, and reports it then', async () => {
    const { apply, second } = refuseFirst(new PlannerUnavailable('no memory'));
    const reported = await watch(apply);
    await replaceFile('trestle.yaml', toText(6));
    expect(await second).toEqual([1, 2].map(() => ({ aliases: 6, policies: POLICIES.before })));
    await new Promise(setImmediate);
    expect(reported).toEqual([{ file: file('trestle.yaml'), texts: new Map([[file('trestle.yaml'), toText(6)]]) }]);
  });

  it('begins with what other processes have applied, whatever the file has become', async () => {
    const given: number[] = [];
    const applied = { file: file('trestle.yaml'), texts: new Map([[file('trestle.yaml'), toText(6)]]) };
    const seen = new Promise<void>((resolve) => {
      void watch(({ aliases }) => {
        given.push(aliases);
        if (aliases === 7) resolve();
      }, applied).then(() => replaceFile('trestle.yaml', toText(7)));
    });
    await seen;
    expect(given[0]).toBe(6);
    expect(given.at(-1)).toBe(7);
  });

  it('serves the configuration of its start when that of other processes cannot be applied', async () => {
    const given: number[] = [];
    const applied = { file: file('trestle.yaml'), texts: new Map([[file('trestle.yaml'), 'limits: { maxAlias: 1 }']]) };
    await watch(({ aliases }) => given.push(aliases), applied);
    expect(given).toEqual([]);
  });
});
