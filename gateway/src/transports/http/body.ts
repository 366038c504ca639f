/** Reads the body of a POST: an object of parameters, or a list of them. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { fail } from '@trestle/schema/errors';
import { CollectedBytes } from '@trestle/service/messages/collected-bytes';
import { JsonTooDeep, parseJson } from '../../request/json.ts';
import { isJsonType } from '../../request/preflighted.ts';
import { type Decode, chooseDecoder } from './content-coding.ts';

const CHARSET = /;\s*charset\s*=\s*"?([^\s";]+)/i;

export type Body = Readonly<Record<string, unknown>> | readonly unknown[];

/**
 * Calls back once, with the body or UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE or VALIDATION_ERROR; never when the client disconnects. A body may have
 * `maxBytes` as it is sent, and as many once it is decompressed.
 */
export function readBody(request: IncomingMessage, maxBytes: number, done: (error: Error | undefined, body: Body) => void): void {
  const { 'content-type': type = '', 'content-encoding': encoding, 'content-length': length } = request.headers;
  if (type !== 'application/json' && !isJson(type)) {
    done(fail('UNSUPPORTED_MEDIA_TYPE', 'The content type must be application/json, in UTF-8.'), []);
    return;
  }
  let decode: Decode | undefined;
  if (encoding !== undefined) {
    try {
      decode = chooseDecoder(encoding);
    } catch (error) {
      done(error as Error, []);
      return;
    }
  }
  const tooLarge = () => fail('PAYLOAD_TOO_LARGE', `The body exceeds the limit of ${String(maxBytes)} bytes.`);
  if (Number(length) > maxBytes) {
    done(tooLarge(), []);
    return;
  }
  let first: Buffer | undefined;
  let others: CollectedBytes | undefined;
  let size = 0;
  const onData = (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) {
      if (size - chunk.length <= maxBytes) done(tooLarge(), []);
      return;
    }
    if (first === undefined) first = chunk;
    else (others ??= new CollectedBytes()).add(chunk);
  };
  request.on('data', onData);
  request.once('end', () => {
    // The connection keeps its last request until the next: without the body, and what this closure refers to.
    request.off('data', onData);
    if (size > maxBytes) return;
    let body: Body;
    try {
      const sent = others ? Buffer.concat([first as Buffer, others.toBuffer()]) : first;
      body = parse(decode && sent ? decode(sent, maxBytes) : sent);
    } catch (error) {
      done(error as Error, []);
      return;
    }
    done(undefined, body);
  });
}

function isJson(type: string): boolean {
  const charset = CHARSET.exec(type)?.[1]?.toLowerCase() ?? 'utf-8';
  return isJsonType(type) && (charset === 'utf-8' || charset === 'utf8');
}

function parse(bytes: Buffer = Buffer.alloc(0)): Body {
  // RFC 8259 §8.1
  if (!isUtf8(bytes)) throw fail('VALIDATION_ERROR', 'The body is not valid UTF-8.');
  let body: unknown;
  try {
    body = parseJson(bytes.toString('utf8', 0, bytes.length));
  } catch (error) {
    throw fail('VALIDATION_ERROR', error instanceof JsonTooDeep ? `The body ${error.message}.` : 'The body is not valid JSON.');
  }
  if (typeof body !== 'object' || body === null) throw fail('VALIDATION_ERROR', 'The body must be a JSON object.');
  return body as Body;
}
