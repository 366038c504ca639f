/** A WebSocket client that frames by hand (RFC 6455), so that frames may be as wrong as an attack wants. */
import { randomBytes } from 'node:crypto';
import type { Address, ConnectOptions, Connection, Connections } from './connections.ts';

export const Opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface FrameShape {
  readonly opcode: number;
  readonly payload: Buffer | string;
  readonly isFinal?: boolean;
  /** The three reserved bits, 0 to 7. */
  readonly reserved?: number;
  readonly isMasked?: boolean;
  /** What the header states as length, where it differs from the payload's. */
  readonly statedLength?: number;
}

export interface ReceivedFrame {
  readonly opcode: number;
  readonly payload: Buffer;
}

export interface RawSocket {
  readonly connection: Connection;
  /** Sends a text message; objects as JSON. */
  send(message: object | string): void;
  frame(shape: FrameShape): void;
  /** The frames that arrived so far. */
  frames(): ReceivedFrame[];
  /** The code of the server's close frame; undefined without one. */
  closeCode(): number | undefined;
  /** Resolves with the first message that fits, undefined after `ms` or when the server closes. */
  message(fits: (message: SocketMessage) => boolean, ms?: number): Promise<SocketMessage | undefined>;
}

export interface SocketMessage {
  readonly type?: string;
  readonly id?: string;
  readonly payload?: unknown;
}

export interface SocketOptions extends ConnectOptions {
  readonly path?: string;
  readonly protocol?: string;
  /** Further header lines. */
  readonly headers?: readonly string[];
}

const HANDSHAKE_MS = 10_000;
const MESSAGE_MS = 10_000;

/** Resolves when the server has switched protocols. Rejects when it has not. */
export async function openRawSocket(connections: Connections, address: Address, options: SocketOptions = {}): Promise<RawSocket> {
  const { path = '/graphql', protocol = 'graphql-transport-ws', headers = [], isUnread = false } = options;
  const connection = await connections.open(address);
  const lines = [
    `GET ${path} HTTP/1.1`,
    'Host: localhost',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    ...(protocol === '' ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
    ...headers,
  ];
  connection.socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  await connection.until((bytes) => bytes.includes('\r\n\r\n'), HANDSHAKE_MS);
  const head = connection.received().toString('latin1').split('\r\n')[0] ?? '';
  if (!head.startsWith('HTTP/1.1 101')) throw new Error(`No WebSocket: ${head}`);
  if (isUnread) connection.socket.pause();
  const frames = () => readFrames(connection.received());
  const closeCode = () => {
    const payload = frames().find(({ opcode }) => opcode === Opcode.close)?.payload;
    return payload && payload.length >= 2 ? payload.readUInt16BE() : undefined;
  };
  return {
    connection,
    frames,
    send(message) {
      connection.socket.write(toFrame({ opcode: Opcode.text, payload: typeof message === 'string' ? message : JSON.stringify(message) }));
    },
    frame(shape) {
      connection.socket.write(toFrame(shape));
    },
    closeCode,
    async message(fits, ms = MESSAGE_MS) {
      const find = () => frames().flatMap(toMessage).find(fits);
      await connection.until(() => find() !== undefined || closeCode() !== undefined, ms);
      return find();
    },
  };
}

/** Opens one and introduces the client. Resolves when the server has acknowledged it. */
export async function openGraphqlSocket(
  connections: Connections,
  address: Address,
  { init = {}, ...options }: SocketOptions & { readonly init?: object } = {},
): Promise<RawSocket> {
  const socket = await openRawSocket(connections, address, options);
  socket.send({ type: 'connection_init', payload: init });
  if (options.isUnread !== true) await socket.message(({ type }) => type === 'connection_ack');
  return socket;
}

export function toFrame({ opcode, payload, isFinal = true, reserved = 0, isMasked = true, statedLength }: FrameShape): Buffer {
  const data = Buffer.from(payload);
  const length = statedLength ?? data.length;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head[0] = (isFinal ? 0x80 : 0) | (reserved << 4) | opcode;
  const masked = isMasked ? 0x80 : 0;
  if (length < 126) head[1] = masked | length;
  else if (length < 65_536) {
    head[1] = masked | 126;
    head.writeUInt16BE(length, 2);
  } else {
    head[1] = masked | 127;
    head.writeBigUInt64BE(BigInt(length), 2);
  }
  // A mask of zeros leaves the payload as it is.
  return Buffer.concat(isMasked ? [head, Buffer.alloc(4), data] : [head, data]);
}

function readFrames(bytes: Buffer): ReceivedFrame[] {
  const frames: ReceivedFrame[] = [];
  let at = bytes.indexOf('\r\n\r\n') + 4;
  while (at >= 4 && at + 2 <= bytes.length) {
    const short = (bytes[at + 1] ?? 0) & 0x7f;
    const size = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (at + size > bytes.length) break;
    const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
    if (at + size + length > bytes.length) break;
    frames.push({ opcode: (bytes[at] ?? 0) & 0x0f, payload: bytes.subarray(at + size, at + size + length) });
    at += size + length;
  }
  return frames;
}

function toMessage({ opcode, payload }: ReceivedFrame): SocketMessage[] {
  if (opcode !== Opcode.text) return [];
  try {
    return [JSON.parse(payload.toString()) as SocketMessage];
  } catch {
    return [];
  }
}
