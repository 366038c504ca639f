/** The settings of the coprocessor: for all stages, and below `extensions.coprocessor.perStage` for single ones. */
import { SettingsError, findFault, readFamily, setting } from '@trestle/env';
import {
  COPROCESSOR_STAGES,
  type CoprocessorSettings,
  type CoprocessorStage,
  FAILURE_POLICIES,
  type StageSettings,
} from '../../extensions/coprocessor-settings.ts';

const url = () => setting.url('http:', 'https:');
const isStage = (item: string): item is CoprocessorStage => (COPROCESSOR_STAGES as readonly string[]).includes(item);

/** The settings for all stages. */
export const coprocessorSettings = {
  COPROCESSOR_URL: url().optional(),
  COPROCESSOR_STAGES: setting.list(isStage, `must be among ${COPROCESSOR_STAGES.join(', ')}`).default([]),
  COPROCESSOR_HEADERS: setting.list((name) => /^[\w!#$%&'*+.^`|~-]{1,128}$/.test(name), 'must be names of headers').default([]),
};

/** Those of one stage: the key in a configuration file, and the prefix of the environment variable, which ends with the stage, such as `ONPLAN`. */
export const stageSettings = {
  url: { prefix: 'COPROCESSOR_URL_', reader: url() },
  timeoutMs: { prefix: 'COPROCESSOR_TIMEOUT_MS_', reader: setting.integer(1, 60_000) },
  onFailure: { prefix: 'COPROCESSOR_ON_FAILURE_', reader: setting.choice(...FAILURE_POLICIES) },
} as const;

/** What is set for single stages. */
export type StageChoices = ReadonlyMap<CoprocessorStage, Partial<Omit<StageSettings, 'stage'>>>;

/** Returns the fault of the name of a stage; undefined for a stage. */
export function findStageFault(name: string): string | undefined {
  return findStage(name) === undefined ? `must be one of ${COPROCESSOR_STAGES.join(', ')}` : undefined;
}

/** Names of environment variables have no case. */
function findStage(name: string): CoprocessorStage | undefined {
  return COPROCESSOR_STAGES.find((stage) => stage.toLowerCase() === name.toLowerCase());
}

/** Returns what is set for single stages. Throws SettingsError that names every invalid value. */
export function readStages(env: Readonly<Record<string, string | undefined>>): StageChoices {
  const choices = new Map<CoprocessorStage, Record<string, unknown>>();
  const faults: string[] = [];
  for (const [key, { prefix, reader }] of Object.entries(stageSettings))
    for (const [name, text] of readFamily(prefix, env)) {
      const stage = findStage(name);
      const fault = stage ? findFault(reader, text) : findStageFault(name);
      if (fault !== undefined) faults.push(`${prefix}${name.toUpperCase()}: ${stage ? '' : 'the name of the stage '}${fault}`);
      else if (stage) choices.set(stage, { ...choices.get(stage), [key]: reader.parse(text) });
    }
  if (faults.length > 0) throw new SettingsError(faults.join('\n'));
  return choices;
}

interface CoprocessorValues {
  readonly COPROCESSOR_URL?: string | undefined;
  readonly COPROCESSOR_STAGES: readonly string[];
  readonly COPROCESSOR_HEADERS: readonly string[];
  readonly EXTENSION_TIMEOUT_MS: number;
}

/** Returns the settings of each stage: its own, else those for all stages. Undefined without a stage. */
export function toCoprocessor(values: CoprocessorValues, choices: StageChoices): CoprocessorSettings | undefined {
  const stages = COPROCESSOR_STAGES.filter((stage) => values.COPROCESSOR_STAGES.includes(stage)).map((stage) => {
    const { url: own, timeoutMs = values.EXTENSION_TIMEOUT_MS, onFailure = 'refuse' } = choices.get(stage) ?? {};
    return { stage, url: own ?? values.COPROCESSOR_URL ?? '', timeoutMs, onFailure };
  });
  return stages.length === 0 ? undefined : { stages, headers: values.COPROCESSOR_HEADERS.map((name) => name.toLowerCase()) };
}
