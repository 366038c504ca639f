/** RESULTS.md has a section for each benchmark; a run replaces its own. */
import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

const FILE = new URL('RESULTS.md', import.meta.url);

/** `lines` are Markdown; what they were measured on is put before them. */
export async function writeSection(title, { command, lines }) {
  const machine = `${cpus().length} × ${cpus()[0].model}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`;
  const section = [`# ${title}`, '', `Command: \`${command}\`. Machine: ${machine}.`, ...lines].join('\n');
  const old = await readFile(FILE, 'utf8').catch(() => '');
  const others = old.split(/^(?=# )/m).filter((each) => each.trim() !== '' && !each.startsWith(`# ${title}\n`));
  const text = [...others.map((each) => each.trimEnd()), section].join('\n\n');
  await writeFile(FILE, await format(text, { ...(await resolveConfig(fileURLToPath(FILE))), parser: 'markdown' }));
}
