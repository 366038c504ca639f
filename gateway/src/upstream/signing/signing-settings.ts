/** Which requests to subgraphs are signed (AWS Signature Version 4), and for whom. Types and defaults only. */

/** The settings of one subgraph, or those for all. */
export interface SigningSettings {
  readonly enabled: boolean;
  /** Such as `eu-central-1`. */
  readonly region: string | undefined;
  /** The name that the service has in signatures, such as `execute-api`. */
  readonly service: string | undefined;
  /** The profile of the shared files; undefined for the default chain of AWS's SDKs. */
  readonly profile: string | undefined;
  /** A role that is assumed with the credentials that were found. */
  readonly roleArn: string | undefined;
  /** What the role demands of those who assume it. */
  readonly externalId: string | undefined;
  readonly sessionName: string;
}

/** The settings of all subgraphs. */
export interface SubgraphSigning {
  readonly all: SigningSettings;
  /** What differs, by the subgraph's name in lower case. */
  readonly bySubgraph: ReadonlyMap<string, Partial<SigningSettings>>;
}

/** What the signature of a subgraph's requests is made from. */
export type Signing = Omit<SigningSettings, 'enabled' | 'region' | 'service'> & { readonly region: string; readonly service: string };

/** What holds without a setting. */
export const DEFAULT_SIGNING: SigningSettings = {
  enabled: false,
  region: undefined,
  service: undefined,
  profile: undefined,
  roleArn: undefined,
  externalId: undefined,
  sessionName: 'trestle-gateway',
};

/** Returns what requests to a subgraph are signed with; undefined when they are not. Settings of enabled subgraphs have a region and a service. */
export function signingOf(name: string, settings: SubgraphSigning | undefined): Signing | undefined {
  if (!settings) return undefined;
  const { enabled, region, service, ...rest } = { ...settings.all, ...settings.bySubgraph.get(name.toLowerCase()) };
  return enabled && region !== undefined && service !== undefined ? { region, service, ...rest } : undefined;
}
