/** Reads which certificate files connections to subgraphs use, and finds those that cannot be used. */
import { readFamily } from '@trestle/env';
import { type SubgraphTlsSettings, TlsFileError, type TlsFiles, filesOf, readTlsFiles } from './subgraph-tls.ts';
import type { Configuration } from '../configuration/load-configuration.ts';
import { subgraphSettings } from '../configuration/settings/settings.ts';

type Values = Readonly<Record<string, string | undefined>>;
type File = keyof TlsFiles;

const FOR_ALL = { ca: 'SUBGRAPH_CA_FILE', certificate: 'SUBGRAPH_CERT_FILE', key: 'SUBGRAPH_KEY_FILE' } as const;
const KEYS = { ca: 'tls.caFile', certificate: 'tls.certificateFile', key: 'tls.keyFile' } as const;

/** Where faults go. */
export interface TlsFaults {
  readonly configuration: Pick<Configuration, 'subgraphs' | 'describe' | 'faults'>;
  /** Adds the fault of a setting, by its environment variable. */
  readonly addFault: (name: string, message: string) => void;
  /** Adds a fault that names its place. */
  readonly addLine: (line: string) => void;
}

/** Returns the files. Adds a fault for each that cannot be read or used, unless its setting was reported already. */
export function readSubgraphTls(env: Values, { configuration, addFault, addLine }: TlsFaults): SubgraphTlsSettings {
  const all = { ca: env[FOR_ALL.ca], certificate: env[FOR_ALL.certificate], key: env[FOR_ALL.key] };
  const settings: SubgraphTlsSettings = { all, bySubgraph: readBySubgraph(env) };
  // A file with a fault has no value here, so that the file that belongs to it would be reported for nothing.
  if (configuration.faults.some((line) => line.includes('.tls.'))) return settings;
  const commonFault = findFault(all);
  if (commonFault) addFault(FOR_ALL[commonFault.file], commonFault.message);
  for (const name of settings.bySubgraph.keys()) {
    const fault = findFault(filesOf(settings, name));
    if (!fault || (fault.file === commonFault?.file && fault.message === commonFault.message)) continue;
    const written = configuration.subgraphs.find((each) => each.toLowerCase() === name);
    const key = KEYS[fault.file];
    if (written === undefined) addLine(`${subgraphSettings[key].prefix}${name.toUpperCase()}: ${fault.message}`);
    else addLine(configuration.describe(`subgraphs.${written}.${key}`, fault.message));
  }
  return settings;
}

function readBySubgraph(env: Values): Map<string, TlsFiles> {
  const valuesOf = (file: File) => readFamily(subgraphSettings[KEYS[file]].prefix, env);
  const [authorities, certificates, keys] = [valuesOf('ca'), valuesOf('certificate'), valuesOf('key')];
  const names = new Set([...authorities.keys(), ...certificates.keys(), ...keys.keys()]);
  return new Map([...names].map((name) => [name, { ca: authorities.get(name), certificate: certificates.get(name), key: keys.get(name) }]));
}

function findFault(files: TlsFiles): TlsFileError | undefined {
  try {
    readTlsFiles(files);
    return undefined;
  } catch (error) {
    if (error instanceof TlsFileError) return error;
    throw error;
  }
}
