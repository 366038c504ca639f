/** The commands `trestle` and `trestle-gateway` on a path of their own, as after `npm install --global`. */
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type PackedCommand, installCommand } from '../cli/packed-command.ts';

const GATEWAY = fileURLToPath(new URL('../../../gateway', import.meta.url));

/** The installed commands. */
export interface InstalledCommands extends PackedCommand {
  /** The file of the command `trestle`. */
  readonly bin: string;
  /** A folder for PATH. Its `trestle` also writes with which code it has ended. */
  readonly path: string;
}

/** Installs the packed command, and the gateway of the checkout beside it. */
export async function installCommands(): Promise<InstalledCommands> {
  const command = await installCommand();
  await linkGateway(command);
  const [path, bin] = [join(command.folder, 'bin'), join(command.folder, 'node_modules/@trestle/cli/bin/trestle.mjs')];
  await mkdir(path);
  const script = `[ "$1" = dev ] && exec '${process.execPath}' '${bin}' "$@"
'${process.execPath}' '${bin}' "$@"
code=$?
echo "[$1 $2 ended with $code]" >&2
exit $code`;
  await writeFile(join(path, 'trestle'), `#!/bin/sh\n${script}\n`);
  await chmod(join(path, 'trestle'), 0o755);
  await symlink(join(GATEWAY, 'bin/trestle-gateway.mjs'), join(path, 'trestle-gateway'));
  return { ...command, bin, path };
}

/** Puts the gateway where npm installs it: beside the command. */
export async function linkGateway({ folder }: PackedCommand): Promise<void> {
  await symlink(GATEWAY, join(folder, 'node_modules/@trestle/gateway'));
}
