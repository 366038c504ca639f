/** Rotates the keys of tokens in their files, while the processes that read them run. */
import { generateKeyPairSync } from 'node:crypto';
import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { planRotation } from '@trestle/identity/tokens/key-rotation';

/** How long the process that signs may take to load the new key: until then its tokens need the old one. */
const SIGNER_SECONDS = 3;

/** Names the files of the keys. */
export interface RotationFiles {
  readonly privateFile: string;
  readonly publicFile: string;
  /** Seconds between the publication of the new key and its first use: longer than verifiers take to load it. */
  readonly delaySeconds: number;
  /** Whether the tokens of all older keys are refused as soon as the new key signs: one of these keys may be known to another person. */
  readonly revokesOld: boolean;
}

/** What a rotation has done. */
export interface Rotated {
  readonly kid: string;
  /** Keys that no longer verify because their tokens have ended. */
  readonly removed: readonly string[];
  /** Keys that no longer verify although their tokens may not have ended. */
  readonly revoked: readonly string[];
}

/**
 * Publishes a new key, waits, and signs with it; then, if `revokesOld`, waits again and publishes it alone. Each file is replaced as a whole. Rejects,
 * and then has changed nothing, when the files are not a pair of keys, or when another rotation runs. When it is interrupted, the key that signs is
 * published, and the next rotation is complete.
 */
export async function rotateKeys({ privateFile, publicFile, delaySeconds, revokesOld }: RotationFiles): Promise<Rotated> {
  const unlock = await lock(`${privateFile}.lock`);
  try {
    const [privateText, publicText] = await Promise.all([readFile(privateFile, 'utf8'), readFile(publicFile, 'utf8')]);
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const signsAt = Math.floor(Date.now() / 1000) + delaySeconds;
    const rotation = planRotation({ privateText, publicText }, { newKey: privateKey, signsAt });
    await replaceFile(publicFile, rotation.publicText, { isPublic: true });
    await delay(delaySeconds * 1000);
    await replaceFile(privateFile, rotation.privateText, { isPublic: false });
    if (revokesOld) {
      await delay(SIGNER_SECONDS * 1000);
      await replaceFile(publicFile, rotation.newKeyText, { isPublic: true });
    }
    return { kid: rotation.kid, removed: rotation.removed, revoked: revokesOld ? rotation.kept : [] };
  } finally {
    await unlock();
  }
}

/** Replaces a file by rename. A private file can be read by its owner only; a public one by everybody who could read the old one. */
async function replaceFile(path: string, text: string, { isPublic }: { readonly isPublic: boolean }): Promise<void> {
  const draft = `${path}.${String(process.pid)}.draft`;
  const { mode, uid, gid } = await stat(path);
  try {
    await writeFile(draft, text, { mode: 0o600, flush: true });
    const file = await open(draft, 'r');
    try {
      if (isPublic) await file.chmod((mode & 0o044) | 0o600);
      if (process.getuid?.() === 0) await file.chown(uid, gid);
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Two rotations at a time could sign with a key that is not published. */
async function lock(path: string): Promise<() => Promise<void>> {
  const file = await open(path, 'wx', 0o600).catch((error: unknown) => {
    const isTaken = (error as NodeJS.ErrnoException).code === 'EEXIST';
    throw isTaken ? new Error(`Another rotation runs, or was interrupted: ${path} exists. Delete that file when no rotation runs.`) : error;
  });
  await file.close();
  return () => rm(path, { force: true });
}
