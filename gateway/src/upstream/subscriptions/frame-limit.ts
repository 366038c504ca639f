/**
 * Cuts messages that are too long out of what a WebSocket server sends, frame by frame (RFC 6455 §5.2). `ws` would close the connection for one, and with
 * it every other subscription; a message that is cut reaches it as a short one. No I/O.
 */

/** As much is left of a message whose first frame is too long: enough for the id of its subscription. */
const KEPT_BYTES = 4096;
const FINAL = 0x80;
const OPCODE = 0x0f;
const MASKED = 0x80;
const CONTINUATION = 0;
/** Opcodes from this one on are those of control frames, which may stand between the frames of a message. */
const FIRST_CONTROL = 8;
const LENGTH_16 = 126;
const LENGTH_64 = 127;

/** A frame whose payload is arriving. */
interface Frame {
  /** Bytes of the payload that are still to pass. */
  kept: number;
  /** Bytes of the payload behind them, that are left out. */
  dropped: number;
}

export class FrameLimit {
  readonly #maxBytes: number;
  #header = Buffer.alloc(0);
  #frame: Frame | undefined;
  /** Bytes of the message whose frames are arriving. */
  #messageBytes = 0;
  #isCut = false;
  /** Messages that have begun to arrive, and those that were taken. */
  #begun = 0;
  #taken = 0;
  /** Which of them are cut: the first one is 1. */
  readonly #cut = new Set<number>();
  /** Set at a frame that no server may send: `ws` closes the connection for it. */
  #isInvalid = false;

  /** A message may have `maxBytes` bytes. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns what is left of the bytes that arrived, in order. */
  pass(chunk: Buffer): Buffer[] {
    const passed: Buffer[] = [];
    let rest = chunk;
    while (rest.length > 0 && !this.#isInvalid)
      rest = this.#frame ? this.#passPayload(this.#frame, rest, passed) : this.#passHeader(rest, passed);
    if (rest.length > 0) passed.push(rest);
    return passed;
  }

  /** To be called once for each message that is delivered, in their order. Returns whether it was cut. */
  takeIsCut(): boolean {
    return this.#cut.delete(++this.#taken);
  }

  /** Returns the bytes behind those that belong to the frame. */
  #passPayload(frame: Frame, bytes: Buffer, passed: Buffer[]): Buffer {
    const kept = Math.min(frame.kept, bytes.length);
    const dropped = Math.min(frame.dropped, bytes.length - kept);
    if (kept > 0) passed.push(bytes.subarray(0, kept));
    frame.kept -= kept;
    frame.dropped -= dropped;
    if (frame.kept + frame.dropped === 0) this.#frame = undefined;
    return bytes.subarray(kept + dropped);
  }

  /** Returns the bytes behind the header; none while it is incomplete. */
  #passHeader(bytes: Buffer, passed: Buffer[]): Buffer {
    const known = this.#header.length;
    const header = known === 0 ? bytes : Buffer.concat([this.#header, bytes]);
    const size = sizeOfHeader(header);
    if (size === undefined || header.length < size) {
      this.#header = Buffer.from(header);
      return bytes.subarray(bytes.length);
    }
    this.#header = Buffer.alloc(0);
    this.#begin(header.subarray(0, size), passed);
    return bytes.subarray(size - known);
  }

  #begin(header: Buffer, passed: Buffer[]): void {
    const [first = 0, second = 0] = header;
    const opcode = first & OPCODE;
    const length = lengthOf(header);
    this.#isInvalid = (second & MASKED) !== 0;
    if (this.#isInvalid || opcode >= FIRST_CONTROL) {
      passed.push(header);
      this.#expect({ kept: length, dropped: 0 });
      return;
    }
    if (opcode !== CONTINUATION) {
      [this.#messageBytes, this.#isCut] = [0, false];
      this.#begun++;
    }
    const isWithin = !this.#isCut && this.#messageBytes + length <= this.#maxBytes;
    const kept = isWithin ? length : this.#isCut || opcode === CONTINUATION ? 0 : Math.min(length, KEPT_BYTES);
    if (isWithin) passed.push(header);
    else if (!this.#isCut) passed.push(toFinalHeader(opcode, kept));
    if (!isWithin) this.#cut.add(this.#begun);
    this.#isCut ||= !isWithin;
    this.#messageBytes += length;
    this.#expect({ kept, dropped: length - kept });
  }

  #expect(frame: Frame): void {
    if (frame.kept + frame.dropped > 0) this.#frame = frame;
  }
}

/** Returns how many bytes the header of a frame has without a mask; undefined while that is unknown. */
function sizeOfHeader({ 1: second }: Buffer): number | undefined {
  if (second === undefined) return undefined;
  const length = second & ~MASKED;
  return length === LENGTH_64 ? 10 : length === LENGTH_16 ? 4 : 2;
}

function lengthOf(header: Buffer): number {
  const length = (header[1] as number) & ~MASKED;
  if (length === LENGTH_16) return header.readUInt16BE(2);
  return length === LENGTH_64 ? Number(header.readBigUInt64BE(2)) : length;
}

/** Returns the header of the last frame of a message that is cut. */
function toFinalHeader(opcode: number, length: number): Buffer {
  if (length < LENGTH_16) return Buffer.of(FINAL | opcode, length);
  const header = Buffer.of(FINAL | opcode, LENGTH_16, 0, 0);
  header.writeUInt16BE(length, 2);
  return header;
}
