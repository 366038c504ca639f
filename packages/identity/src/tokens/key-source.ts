/** Where a process gets the keys of tokens: a fixed text, or a file that is watched. */
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import type { KeyObject } from 'node:crypto';
import type { Log } from '@trestle/log';
import { type KeySet, type PublicJwk, type SigningKey, parsePublicKeys, parseSigningKey, toKeySet } from './key-set.ts';

/** Supplies keys that verify signatures. */
export interface KeySource {
  /**
   * Returns the key for a token, or undefined. An id that is not known makes the source load its keys again, at a limited rate; a source
   * that loads from a file has them before this returns.
   */
  find(kid: string | undefined, algorithm: string): KeyObject | undefined;
  /** Calls `listener` after each change of the keys. */
  onChange(listener: () => void): void;
  /** Returns our public keys, for publication. */
  publicKeys(): readonly PublicJwk[];
  /** Stops watching. */
  stop(): void;
}

/** Supplies the key that signs. */
export interface SigningKeySource {
  /** Returns the key that signs now. */
  current(): SigningKey;
  /** Stops watching. */
  stop(): void;
}

/** How often the state of a watched file is read. Polling also sees replacements by rename and by symbolic link. */
const POLL_MS = 1000;
/** A token with an unknown key id makes the file be read at most so often. */
const UNKNOWN_KEY_INTERVAL_MS = 1000;

/** Creates a source of fixed keys: a JWKS, or a key in PEM. Throws what `parsePublicKeys` throws. */
export function createFixedKeys(text: string): KeySource {
  const keys = parsePublicKeys(text);
  const set = toKeySet(keys);
  return { find: set.find, onChange: () => undefined, publicKeys: () => keys, stop: () => undefined };
}

/** Names a file and where its faults are logged. */
export interface KeyFileOptions {
  readonly path: string;
  readonly log: Pick<Log, 'info' | 'error'>;
}

/**
 * Creates a source of public keys in a file: a JWKS, or a key in PEM. A changed file is loaded within two seconds; while it cannot be
 * loaded, the last keys stay in force. Throws when the file cannot be loaded at first.
 */
export function watchPublicKeys(options: KeyFileOptions): KeySource {
  const listeners: (() => void)[] = [];
  let set: KeySet;
  let lastLoad = performance.now();
  const file = watchKeyFile(options, parsePublicKeys, (keys) => {
    set = toKeySet(keys);
    for (const listener of listeners) listener();
  });
  return {
    find(kid, algorithm) {
      const found = set.find(kid, algorithm);
      if (found || kid === undefined || performance.now() - lastLoad < UNKNOWN_KEY_INTERVAL_MS) return found;
      lastLoad = performance.now();
      file.reload();
      return set.find(kid, algorithm);
    },
    onChange: (listener) => listeners.push(listener),
    publicKeys: file.current,
    stop: file.stop,
  };
}

/** Creates a source of the private key in a file: a JWKS whose first key signs, or a key in PEM. Otherwise as `watchPublicKeys`. */
export function watchSigningKey(options: KeyFileOptions): SigningKeySource {
  return watchKeyFile(options, parseSigningKey, () => undefined);
}

interface KeyFile<Value> {
  readonly current: () => Value;
  readonly reload: () => void;
  readonly stop: () => void;
}

function watchKeyFile<Value>(
  { path, log }: KeyFileOptions,
  parse: (text: string) => Value,
  onLoad: (value: Value) => void,
): KeyFile<Value> {
  let text = readFileSync(path, 'utf8');
  let value = parse(text);
  onLoad(value);
  const reload = () => {
    try {
      const changed = readFileSync(path, 'utf8');
      if (changed === text) return;
      value = parse(changed);
      text = changed;
    } catch (error) {
      // The message of a SyntaxError may quote the file.
      log.error('token keys cannot be loaded; the last ones stay in force', {
        error: error instanceof SyntaxError ? 'not well-formed' : error,
      });
      return;
    }
    onLoad(value);
    log.info('token keys were loaded');
  };
  watchFile(path, { interval: POLL_MS, persistent: false }, reload);
  return {
    current: () => value,
    reload,
    stop: () => {
      unwatchFile(path, reload);
    },
  };
}
