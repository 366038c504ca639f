/** The settings of signatures of requests to subgraphs: for all, and below `subgraphs.<name>.awsSigV4` for single ones. */
import { SettingsError, type SettingReader, findFault, readFamily, setting } from '@trestle/env';
import { DEFAULT_SIGNING, type SigningSettings, type SubgraphSigning } from '../../upstream/signing/signing-settings.ts';

const matching = (pattern: RegExp, message: string) =>
  setting.parsed((value) => {
    if (!pattern.test(value)) throw new Error(message);
    return value;
  });
const scopeName = () => matching(/^[a-z\d](?:[a-z\d-]{0,62}[a-z\d])?$/, 'must have 1 to 64 lower-case letters, digits and hyphens');
const profileName = () => matching(/^[^\p{Cc}[\]]{1,256}$/u, 'must be the name of a profile');
const roleArn = () =>
  matching(/^arn:aws[\w-]{0,32}:iam::\d{12}:role\/[\w+=,.@/-]{1,576}$/, 'must be the ARN of a role: arn:aws:iam::<account>:role/<name>');
const externalId = () => matching(/^[\w+=,.@:/-]{2,1224}$/, 'must have 2 to 1224 letters, digits and _+=,.@:/-');
const sessionName = () => matching(/^[\w+=,.@-]{2,64}$/, 'must have 2 to 64 letters, digits and _+=,.@-');

/** The settings for all subgraphs. */
export const signingSettings = {
  SUBGRAPH_AWS_SIGV4: setting.onOff().default(DEFAULT_SIGNING.enabled),
  SUBGRAPH_AWS_REGION: scopeName().optional(),
  SUBGRAPH_AWS_SERVICE: scopeName().optional(),
  SUBGRAPH_AWS_PROFILE: profileName().optional(),
  SUBGRAPH_AWS_ROLE_ARN: roleArn().optional(),
  SUBGRAPH_AWS_EXTERNAL_ID: externalId().optional(),
  SUBGRAPH_AWS_SESSION_NAME: sessionName().default(DEFAULT_SIGNING.sessionName),
};

/** Those of one subgraph: the key in a configuration file, and the prefix of the environment variable. */
export const subgraphSigningSettings = {
  'awsSigV4.enabled': { prefix: 'SUBGRAPH_AWS_SIGV4_', reader: setting.onOff() },
  'awsSigV4.region': { prefix: 'SUBGRAPH_AWS_REGION_', reader: scopeName() },
  'awsSigV4.service': { prefix: 'SUBGRAPH_AWS_SERVICE_', reader: scopeName() },
  'awsSigV4.profile': { prefix: 'SUBGRAPH_AWS_PROFILE_', reader: profileName() },
  'awsSigV4.roleArn': { prefix: 'SUBGRAPH_AWS_ROLE_ARN_', reader: roleArn() },
  'awsSigV4.externalId': { prefix: 'SUBGRAPH_AWS_EXTERNAL_ID_', reader: externalId() },
  'awsSigV4.sessionName': { prefix: 'SUBGRAPH_AWS_SESSION_NAME_', reader: sessionName() },
} as const satisfies Readonly<Record<`awsSigV4.${keyof SigningSettings}`, { readonly prefix: string; readonly reader: SettingReader }>>;

interface SigningValues {
  readonly SUBGRAPH_AWS_SIGV4: boolean;
  readonly SUBGRAPH_AWS_REGION?: string | undefined;
  readonly SUBGRAPH_AWS_SERVICE?: string | undefined;
  readonly SUBGRAPH_AWS_PROFILE?: string | undefined;
  readonly SUBGRAPH_AWS_ROLE_ARN?: string | undefined;
  readonly SUBGRAPH_AWS_EXTERNAL_ID?: string | undefined;
  readonly SUBGRAPH_AWS_SESSION_NAME: string;
}

const NEEDS_SCOPE = 'needs region and service (SUBGRAPH_AWS_REGION, SUBGRAPH_AWS_SERVICE) of awsSigV4';
const NEEDS_ROLE = 'needs roleArn of awsSigV4';

/** Returns the settings of all subgraphs. `env` has those of single ones. Throws SettingsError that names every invalid value. */
export function readSigning(values: SigningValues, env: Readonly<Record<string, string | undefined>>): SubgraphSigning {
  const bySubgraph = new Map<string, Partial<SigningSettings>>();
  const faults: string[] = [];
  for (const [key, { prefix, reader }] of Object.entries(subgraphSigningSettings))
    for (const [name, text] of readFamily(prefix, env)) {
      const fault = findFault(reader, text);
      if (fault === undefined) bySubgraph.set(name, { ...bySubgraph.get(name), [key.slice('awsSigV4.'.length)]: reader.parse(text) });
      else faults.push(`${prefix}${name.toUpperCase()}: ${fault}`);
    }
  if (faults.length > 0) throw new SettingsError(faults.join('\n'));
  const all: SigningSettings = {
    enabled: values.SUBGRAPH_AWS_SIGV4,
    region: values.SUBGRAPH_AWS_REGION,
    service: values.SUBGRAPH_AWS_SERVICE,
    profile: values.SUBGRAPH_AWS_PROFILE,
    roleArn: values.SUBGRAPH_AWS_ROLE_ARN,
    externalId: values.SUBGRAPH_AWS_EXTERNAL_ID,
    sessionName: values.SUBGRAPH_AWS_SESSION_NAME,
  };
  const merged = [['', all] as const, ...[...bySubgraph].map(([name, own]) => [`_${name.toUpperCase()}`, { ...all, ...own }] as const)];
  for (const [suffix, { enabled, region, service, roleArn: role, externalId: id }] of merged) {
    if (enabled && (region === undefined || service === undefined)) faults.push(`SUBGRAPH_AWS_SIGV4${suffix}: ${NEEDS_SCOPE}`);
    if (id !== undefined && role === undefined) faults.push(`SUBGRAPH_AWS_EXTERNAL_ID${suffix}: ${NEEDS_ROLE}`);
  }
  if (faults.length > 0) throw new SettingsError(faults.join('\n'));
  return { all, bySubgraph };
}
