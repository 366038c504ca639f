/** The gateway as a process of `trestle dev`: where it comes from, its start, what it logs, and its end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createInterface } from 'node:readline';
import { CommandError, EXIT, usageError } from '../exit-codes.ts';

/** Configures the process. */
export interface GatewayOptions {
  /** The executable `trestle-gateway`. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called for each line of its log that people should see. */
  readonly onMessage: (message: GatewayMessage) => void;
}

/** A line of the gateway's log. */
export interface GatewayMessage {
  readonly level: string;
  readonly msg: string;
  readonly port?: number;
  /** The path of GraphQL requests. */
  readonly path?: string;
  readonly detail?: string;
}

/** A running gateway. */
export interface GatewayProcess {
  /** Resolves when the process has ended: with its exit code and the last of what it wrote. Never rejects. */
  readonly ended: Promise<{ readonly code: number | null; readonly output: string }>;
  /** Has it end in order, or by force when it has not ended after ten seconds. */
  readonly stop: () => Promise<void>;
}

const PACKAGE = '@trestle/gateway';
const STOP_MS = 10_000;
const KEPT_CHARACTERS = 4000;

/**
 * Returns the path of the executable: `path` when it is given, else that of the package @trestle/gateway, as Node.js finds it from the folder
 * `from` or from this package. Throws a CommandError that says how to install it.
 */
export function findGateway(path: string | undefined, from: string): string {
  if (path !== undefined) {
    const command = resolve(from, path);
    if (existsSync(command)) return command;
    throw usageError(`The gateway of --gateway does not exist: ${command}.`);
  }
  for (const base of [pathToFileURL(join(from, 'package.json')).href, import.meta.url]) {
    const manifest = findManifest(base);
    if (manifest !== undefined) return join(dirname(manifest), readBin(manifest));
  }
  throw new CommandError(
    `The gateway is not installed. Install its tarball beside this command (\`npm install ${PACKAGE}\` from your package registry), or pass --gateway with the path of trestle-gateway.`,
    EXIT.usage,
    'NO_GATEWAY',
  );
}

function findManifest(base: string): string | undefined {
  try {
    return createRequire(base).resolve(`${PACKAGE}/package.json`);
  } catch {
    return undefined;
  }
}

function readBin(manifest: string): string {
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin?: Readonly<Record<string, string>> };
  return bin?.['trestle-gateway'] ?? 'bin/trestle-gateway.mjs';
}

/** Starts the gateway. It ends with this process too, in whatever way that ends: it notices the end of the channel between them. */
export function startGateway({ command, args, env, onMessage }: GatewayOptions): GatewayProcess {
  // In a group of its own, so that Ctrl-C reaches this process alone, which then stops the gateway.
  const child = spawn(command, args, { env: { ...env, LOG_FORMAT: 'json' }, stdio: ['ignore', 'pipe', 'pipe', 'ipc'], detached: true });
  let output = '';
  const keep = (text: string) => {
    output = `${output}${text}`.slice(-KEPT_CHARACTERS);
  };
  child.stderr?.on('data', (chunk: Buffer) => {
    keep(chunk.toString('utf8'));
  });
  if (child.stdout) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      keep(`${line}\n`);
      const message = parseLine(line);
      if (message) onMessage(message);
    });
  }
  const ended = new Promise<{ code: number | null; output: string }>((settle) => {
    child.once('error', (error) => {
      settle({ code: null, output: error.message });
    });
    child.once('close', (code) => {
      settle({ code, output });
    });
  });
  return { ended, stop: () => stop(child, ended) };
}

async function stop(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(force);
}

/** Returns a line of the log, or undefined when it has another form. */
function parseLine(line: string): GatewayMessage | undefined {
  try {
    const { level, msg, port, path, error } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    if (typeof level !== 'string' || typeof msg !== 'string') return undefined;
    const detail = (error as { message?: unknown } | undefined)?.message;
    return {
      ...{ level, msg, ...(typeof port === 'number' && { port }) },
      ...(typeof path === 'string' && { path }),
      ...(typeof detail === 'string' && { detail }),
    };
  } catch {
    return undefined;
  }
}
