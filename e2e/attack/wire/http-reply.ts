/** Reads HTTP/1.1 responses out of raw bytes (RFC 9112). Pure. */

export interface RawReply {
  readonly status: number;
  /** Names in lower case; of repeated ones the last. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Whether the body arrived whole. */
  readonly isWhole: boolean;
}

/** Returns the responses in the order they came. `isHead` says whether a response to the n-th request has no body. */
export function readReplies(bytes: Buffer, isHead: (index: number) => boolean = () => false): RawReply[] {
  const replies: RawReply[] = [];
  let at = 0;
  while (at < bytes.length) {
    const end = bytes.indexOf('\r\n\r\n', at);
    if (end < 0) break;
    const head = bytes.subarray(at, end).toString('latin1');
    const [line = '', ...lines] = head.split('\r\n');
    const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(line)?.[1] ?? NaN);
    const headers = Object.fromEntries(
      lines.map((each) => [each.slice(0, each.indexOf(':')).toLowerCase(), each.slice(each.indexOf(':') + 1).trim()]),
    );
    const hasNone = status < 200 || status === 204 || status === 304 || isHead(replies.filter((each) => each.status >= 200).length);
    const { body, next, isWhole } = hasNone ? { body: Buffer.alloc(0), next: end + 4, isWhole: true } : readBody(bytes, end + 4, headers);
    replies.push({ status, headers, body, isWhole });
    if (Number.isNaN(status) || status === 101) break;
    at = next;
  }
  return replies;
}

function readBody(bytes: Buffer, from: number, headers: Readonly<Record<string, string>>) {
  if (headers['transfer-encoding']?.toLowerCase() === 'chunked') return readChunks(bytes, from);
  const length = headers['content-length'];
  if (length === undefined) return { body: bytes.subarray(from), next: bytes.length, isWhole: true };
  const next = from + Number(length);
  return { body: bytes.subarray(from, next), next, isWhole: next <= bytes.length };
}

function readChunks(bytes: Buffer, from: number) {
  const chunks: Buffer[] = [];
  let at = from;
  for (;;) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) return { body: Buffer.concat(chunks), next: bytes.length, isWhole: false };
    const size = Number.parseInt(bytes.subarray(at, line).toString('latin1'), 16);
    const start = line + 2;
    if (!(size > 0)) return { body: Buffer.concat(chunks), next: start + 2, isWhole: size === 0 };
    chunks.push(bytes.subarray(start, start + size));
    at = start + size + 2;
  }
}
