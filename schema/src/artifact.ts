/**
 * Signed artifacts: a supergraph as the registry delivers it to gateways (ADR 41). The first line is a comment of GraphQL, so that the text is
 * a supergraph for any other reader:
 *
 *     # trestle-artifact/1 environment=prod release=12 launch=<64 hexadecimal digits> signature=<base64url>
 *
 * The Ed25519 signature covers the line without its signature, and everything after the line. No I/O.
 */
import { type KeyObject, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';

/** What an artifact delivers, and for which environment. */
export interface Artifact {
  readonly environment: string;
  /** Counts the releases of the environment from 1 on. */
  readonly release: number;
  /** The id of the launch: 64 hexadecimal digits. */
  readonly launch: string;
  readonly supergraphSdl: string;
}

const HEADER =
  /^# (trestle-artifact\/1 environment=([a-z][a-z0-9-]{0,63}) release=([1-9]\d{0,9}) launch=([0-9a-f]{64})) signature=([\w-]{86})\n/;

/** Returns the text of an artifact, signed with an Ed25519 private key. */
export function signArtifact({ environment, release, launch, supergraphSdl }: Artifact, privateKey: KeyObject): string {
  const head = `trestle-artifact/1 environment=${environment} release=${String(release)} launch=${launch}`;
  const signature = sign(null, toSigned(head, supergraphSdl), privateKey).toString('base64url');
  return `# ${head} signature=${signature}\n${supergraphSdl}`;
}

/** Returns the artifact that a string contains. Throws an Error that names the fault when it contains none, was cut or changed, or has another signer. */
export function openArtifact(text: string, publicKey: KeyObject): Artifact {
  const [line = '', head = '', environment = '', release = '', launch = '', signature = ''] = HEADER.exec(text) ?? [];
  if (line === '') throw new Error('is not a signed artifact');
  const supergraphSdl = text.slice(line.length);
  if (!verify(null, toSigned(head, supergraphSdl), publicKey, Buffer.from(signature, 'base64url')))
    throw new Error('has a signature that does not fit: it was changed, cut off, or signed with another key');
  return { environment, release: Number(release), launch, supergraphSdl };
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
