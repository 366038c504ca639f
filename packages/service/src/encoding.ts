/** Chooses and applies a content coding (RFC 9110 §8.4, §12.5.3). */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

export type Encoding = 'br' | 'gzip' | 'identity';

/** Below this it isn't worth the client's and the server's time. */
const MIN_BYTES = 1024;
/** Level 4 is as quick as gzip and smaller. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** The best coding that the client takes; what is small stays as it is unless plain bytes are refused. Never fails: who takes nothing gets those. */
export function chooseEncoding(acceptEncoding: string | undefined, sizeBytes: number): Encoding {
  if (acceptEncoding === undefined) return 'identity';
  const isSmall = sizeBytes < MIN_BYTES;
  if (isSmall && !acceptEncoding.includes('q=0')) return 'identity';
  const weights = readWeights(acceptEncoding);
  if (isSmall && (weights.get('identity') ?? weights.get('*')) !== 0) return 'identity';
  const weightOf = (coding: Encoding, fallback = 0) => weights.get(coding) ?? weights.get('*') ?? fallback;
  const [br, gz] = [weightOf('br'), weights.get('gzip') ?? weights.get('x-gzip') ?? weightOf('gzip')];
  const best = br >= gz ? ({ coding: 'br', weight: br } as const) : ({ coding: 'gzip', weight: gz } as const);
  // The plain bytes are always welcome a little, unless they are named (RFC 9110 §12.5.3).
  return best.weight > 0 && best.weight >= (weights.get('identity') ?? 0) ? best.coding : 'identity';
}

/** What is sent again as the very same bytes, such as a document, is compressed once. */
const remembered = new WeakMap<Buffer, Map<Encoding, Promise<Buffer>>>();

/** Compresses off the event loop. */
export function encode(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  const known = remembered.get(bytes) ?? new Map<Encoding, Promise<Buffer>>();
  remembered.set(bytes, known);
  const encoded = known.get(encoding) ?? compress(bytes, encoding);
  known.set(encoding, encoded);
  return encoded;
}

function compress(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  switch (encoding) {
    case 'br':
      return compressBrotli(bytes, BROTLI);
    case 'gzip':
      return compressGzip(bytes);
    case 'identity':
      return Promise.resolve(bytes);
  }
}

/** Other bytes, another tag (RFC 9110 §8.8.3.3): `"v3-abc"` becomes `"v3-abc-br"`, and keeps the version that writes look at. */
export function toEncodedTag(etag: string, encoding: Encoding): string {
  return encoding === 'identity' ? etag : `${etag.slice(0, -1)}-${encoding}"`;
}

const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;

function readWeights(header: string): Map<string, number> {
  return new Map(
    header.split(',').map((part) => {
      const [coding = '', parameter] = part.split(';').map((piece) => piece.trim().toLowerCase());
      return [coding, parameter === undefined ? 1 : Number(WEIGHT.exec(parameter)?.[1] ?? 0)];
    }),
  );
}
