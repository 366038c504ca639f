/** Writes RESULTS.md, which has one section per benchmark. */
import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

const FILE = new URL('RESULTS.md', import.meta.url);

/** Replaces the section of a benchmark. It begins with the command and the machine; `lines` are Markdown. */
export async function writeSection(title, { command, lines }) {
  const machine = `${cpus().length} × ${cpus()[0].model}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`;
  const section = [`# ${title}`, '', `Command: \`${command}\`. Machine: ${machine}.`, ...lines].join('\n');
  const old = await readFile(FILE, 'utf8').catch(() => '');
  const others = old.split(/^(?=# )/m).filter((each) => each.trim() !== '' && !each.startsWith(`# ${title}\n`));
  const text = [...others.map((each) => each.trimEnd()), section].join('\n\n');
  await writeFile(FILE, await format(text, { ...(await resolveConfig(fileURLToPath(FILE))), parser: 'markdown' }));
}
