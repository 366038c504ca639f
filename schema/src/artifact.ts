/**
 * Signed artifacts: a supergraph as the registry delivers it to gateways (ADR 41). The first line is a comment of GraphQL, so that the text is
 * a supergraph for any other reader:
 *
 *     # trestle-artifact/1 environment=prod release=12 launch=<64 hexadecimal digits> signature=<base64url>
 *
 * The artifact of a contract (ADR 45) has `contract=<name>` behind the environment. During a canary (ADR 43) the line has `canary=<launch> percent=10` before the signature, and the last line is a comment with the supergraph of the
 * canary as a JSON string:
 *
 *     # trestle-canary "schema …"
 *
 * The Ed25519 signature covers the line without its signature, and everything after the line. No I/O.
 */
import { type KeyObject, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';

/** What an artifact delivers, and for which environment. */
export interface Artifact {
  readonly environment: string;
  /** The contract whose supergraph it is; undefined for the whole graph. */
  readonly contract?: string;
  /** Counts the releases of the environment from 1 on. */
  readonly release: number;
  /** The id of the launch: 64 hexadecimal digits. */
  readonly launch: string;
  readonly supergraphSdl: string;
  /** Another launch, which is served to a share of requests. */
  readonly canary?: ArtifactCanary;
}

/** The launch of a canary. */
export interface ArtifactCanary {
  /** The id of the launch. */
  readonly launch: string;
  /** Its share of requests, 1 to 99. */
  readonly percent: number;
  readonly supergraphSdl: string;
}

const HEADER =
  /^# (trestle-artifact\/1 environment=([a-z][a-z0-9-]{0,63})(?: contract=([a-z][a-z0-9-]{0,63}))? release=([1-9]\d{0,9}) launch=([0-9a-f]{64})(?: canary=([0-9a-f]{64}) percent=([1-9]\d?))?) signature=([\w-]{86})\n/;
const CANARY_LINE = '\n# trestle-canary ';

/** Returns the text of an artifact, signed with an Ed25519 private key. */
export function signArtifact({ environment, contract, release, launch, supergraphSdl, canary }: Artifact, privateKey: KeyObject): string {
  const variant = contract === undefined ? '' : ` contract=${contract}`;
  const share = canary ? ` canary=${canary.launch} percent=${String(canary.percent)}` : '';
  const head = `trestle-artifact/1 environment=${environment}${variant} release=${String(release)} launch=${launch}${share}`;
  const body = canary ? `${supergraphSdl}${CANARY_LINE}${JSON.stringify(canary.supergraphSdl)}` : supergraphSdl;
  const signature = sign(null, toSigned(head, body), privateKey).toString('base64url');
  return `# ${head} signature=${signature}\n${body}`;
}

/** Returns the artifact that a string contains. Throws an Error that names the fault when it contains none, was cut or changed, or has another signer. */
export function openArtifact(text: string, publicKey: KeyObject): Artifact {
  const [line = '', head = '', , , , , , , signature = ''] = HEADER.exec(text) ?? [];
  if (line === '') throw new Error('is not a signed artifact');
  if (!verify(null, toSigned(head, text.slice(line.length)), publicKey, Buffer.from(signature, 'base64url')))
    throw new Error('has a signature that does not fit: it was changed, cut off, or signed with another key');
  const artifact = readArtifact(text);
  if (!artifact) throw new Error('has no supergraph of its canary');
  return artifact;
}

/** Returns the artifact that a string contains without a check of its signature, for a string whose source has checked it; undefined for any other string. */
export function readArtifact(text: string): Artifact | undefined {
  const [line = '', , environment = '', contract, release = '', launch = '', canary, percent] = HEADER.exec(text) ?? [];
  if (line === '') return undefined;
  const facts = { environment, ...(contract !== undefined && { contract }), release: Number(release), launch };
  if (canary === undefined) return { ...facts, supergraphSdl: text.slice(line.length) };
  const end = text.lastIndexOf(CANARY_LINE);
  const canarySdl = end < line.length ? undefined : parseString(text.slice(end + CANARY_LINE.length));
  if (canarySdl === undefined) return undefined;
  const supergraphSdl = text.slice(line.length, end);
  return { ...facts, supergraphSdl, canary: { launch: canary, percent: Number(percent), supergraphSdl: canarySdl } };
}

function parseString(json: string): string | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The head has no line break, so that the parts cannot be shifted. */
function toSigned(head: string, supergraphSdl: string): Buffer {
  return Buffer.from(`${head}\n${supergraphSdl}`);
}

/** Parses a PEM file with an Ed25519 private key. Throws an Error for any other content. */
export function parseSigningKey(pem: string): KeyObject {
  return requireEd25519(pem, createPrivateKey);
}

/** Parses a PEM file with an Ed25519 public key. Throws an Error for any other content. */
export function parseVerificationKey(pem: string): KeyObject {
  return requireEd25519(pem, createPublicKey);
}

/** Creates a pair of Ed25519 keys, in PEM. */
export function generateSigningKeys(): { readonly privateKeyPem: string; readonly publicKeyPem: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return { privateKeyPem: privateKey, publicKeyPem: publicKey };
}

/** The messages of crypto may quote the key. */
function requireEd25519(pem: string, parse: (pem: string) => KeyObject): KeyObject {
  let key: KeyObject | undefined;
  try {
    key = parse(pem);
  } catch {
    key = undefined;
  }
  if (key?.asymmetricKeyType !== 'ed25519') throw new Error('must name a file with an Ed25519 key in PEM');
  return key;
}
