/** Writes frames of HTTP/2 (RFC 9113 §4, §6) with uncompressed header blocks (RFC 7541 §6.2). Pure. */

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
export const Frame = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;
export const Flag = { endStream: 1, endHeaders: 4 } as const;
export const Setting = { headerTableSize: 1, maxConcurrentStreams: 3, initialWindowSize: 4, maxFrameSize: 5 } as const;

const LITERAL = 0x00;
const LITERAL_INDEXED = 0x40;

export interface FrameParts {
  readonly stream?: number;
  readonly flags?: number;
  readonly payload?: Buffer;
  /** What the frame states as its length, where it differs from the payload's. */
  readonly statedLength?: number;
}

export function toFrame(type: number, { stream = 0, flags = 0, payload = Buffer.alloc(0), statedLength }: FrameParts): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(statedLength ?? payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream >>> 0, 5);
  return Buffer.concat([head, payload]);
}

export function settings(...pairs: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.alloc(pairs.length * 6);
  pairs.forEach(([id, value], index) => {
    payload.writeUInt16BE(id, index * 6);
    payload.writeUInt32BE(value, index * 6 + 2);
  });
  return toFrame(Frame.settings, { payload });
}

/** One field as a literal; `isIndexed` puts it into the dynamic table. */
export function header(name: string, value: string, isIndexed = false): Buffer {
  return Buffer.concat([Buffer.from([isIndexed ? LITERAL_INDEXED : LITERAL]), text(name), text(value)]);
}

export function headers(stream: number, fields: readonly (readonly [string, string])[], flags: number): Buffer {
  return toFrame(Frame.headers, { stream, flags, payload: Buffer.concat(fields.map(([name, value]) => header(name, value))) });
}

/** RFC 7541 §5.1, §5.2: a length with a prefix of seven bits, then the bytes. */
function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const length = [127];
  let rest = bytes.length - 127;
  for (; rest >= 128; rest >>= 7) length.push((rest & 127) | 128);
  return Buffer.concat([Buffer.from([...length, rest]), bytes]);
}
