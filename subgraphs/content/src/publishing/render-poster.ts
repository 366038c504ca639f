/** Renders a poster for a video that has no cover: a card with its title and duration, as PNG. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Resvg, initWasm } from '@resvg/resvg-wasm';
import type { Picture } from './read-media.ts';

const [WIDTH, HEIGHT] = [640, 360];
const LINE_CHARACTERS = 26;
const MAX_LINES = 4;
const FONT_SIZE = 36;

let fonts: Promise<Uint8Array[]> | undefined;

/** The renderer is WebAssembly: it is loaded at the first poster, once for the process. */
async function load(): Promise<Uint8Array[]> {
  const { resolve } = createRequire(import.meta.url);
  await initWasm(await readFile(resolve('@resvg/resvg-wasm/index_bg.wasm')));
  return [await readFile(resolve('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf'))];
}

/** Returns the poster. */
export async function renderPoster({ title, durationSeconds }: { title: string; durationSeconds: number }): Promise<Picture> {
  const fontBuffers = await (fonts ??= load());
  const image = new Resvg(toSvg(title, durationSeconds), {
    font: { fontBuffers, loadSystemFonts: false, defaultFontFamily: 'DejaVu Sans' },
  });
  try {
    return { type: 'image/png', bytes: image.render().asPng() };
  } finally {
    image.free();
  }
}

function toSvg(title: string, seconds: number): string {
  const lines = wrap(title).map((line, i) => {
    return `<text x="40" y="${String(80 + i * FONT_SIZE * 1.3)}" font-size="${String(FONT_SIZE)}" fill="#eef2f6">${escape(line)}</text>`;
  });
  const duration = `${String(Math.floor(seconds / 60))}:${String(seconds % 60).padStart(2, '0')}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${String(WIDTH)}" height="${String(HEIGHT)}" font-family="DejaVu Sans" font-weight="bold">
    <rect width="100%" height="100%" fill="#1a2f45"/>${lines.join('')}
    <text x="${String(WIDTH - 40)}" y="${String(HEIGHT - 36)}" font-size="28" fill="#8cc2f7" text-anchor="end">${duration}</text></svg>`;
}

/** Breaks a title into lines between words; what does not fit is left out. */
function wrap(title: string): string[] {
  const lines: string[] = [''];
  for (const word of title.split(/\s+/)) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + word.length >= LINE_CHARACTERS) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`.trim();
  }
  return lines.slice(0, MAX_LINES).map((line) => Array.from(line).slice(0, LINE_CHARACTERS).join(''));
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Characters that XML does not allow are left out (XML 1.0 §2.2). */
function escape(text: string): string {
  // eslint-disable-next-line no-control-regex -- XML does not allow these characters
  return text.replace(/[\u0000-\u001f\ufffe\uffff]/g, '').replace(/[&<>]/g, (character) => ENTITIES[character] ?? character);
}
