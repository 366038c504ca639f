/** Reads the body of a POST: an object of parameters, or a list of them. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { fail } from '@trestle/schema/errors';
import { JsonTooDeep, parseJson } from '../../request/json.ts';
import { chooseDecoder, decode, failTooLarge } from './content-coding.ts';

/** Of requests to other endpoints than `/graphql`. */
export const MAX_MESSAGE_BYTES = 1024 * 1024;
const EMPTY = Buffer.alloc(0);
const JSON_TYPE = /^application\/json\s*(?:;|$)/i;
const CHARSET = /;\s*charset\s*=\s*"?([^\s";]+)/i;

export type Body = Readonly<Record<string, unknown>> | readonly unknown[];

/**
 * Calls back once, with the body or UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE or VALIDATION_ERROR; never when the client disconnects. The body has at
 * most `maxBytes` as it is sent, and as it is decoded.
 */
export function readBody(request: IncomingMessage, maxBytes: number, done: (error: Error | undefined, body: Body) => void): void {
  let decoder: ReturnType<typeof chooseDecoder>;
  try {
    decoder = checkHead(request, maxBytes);
  } catch (error) {
    done(error as Error, []);
    return;
  }
  let first: Buffer | undefined;
  let others: Buffer[] | undefined;
  let size = 0;
  const onData = (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) {
      if (size - chunk.length <= maxBytes) done(failTooLarge(maxBytes), []);
      return;
    }
    if (first === undefined) first = chunk;
    else (others ??= []).push(chunk);
  };
  request.on('data', onData);
  request.once('end', () => {
    // The connection keeps its last request until the next: without the body, and what this closure refers to.
    request.off('data', onData);
    if (size > maxBytes) return;
    let body: Body;
    try {
      const bytes = others ? Buffer.concat([first as Buffer, ...others]) : first;
      body = parse(decoder ? decode(bytes ?? EMPTY, decoder, maxBytes) : bytes);
    } catch (error) {
      done(error as Error, []);
      return;
    }
    done(undefined, body);
  });
}

/** Returns how the body is decoded. Throws UNSUPPORTED_MEDIA_TYPE or PAYLOAD_TOO_LARGE. */
function checkHead({ headers }: IncomingMessage, maxBytes: number): ReturnType<typeof chooseDecoder> {
  const { 'content-type': type = '', 'content-encoding': encoding, 'content-length': length } = headers;
  if (type !== 'application/json' && !isJson(type))
    throw fail('UNSUPPORTED_MEDIA_TYPE', 'The content type must be application/json, in UTF-8.');
  const decoder = chooseDecoder(encoding);
  if (Number(length) > maxBytes) throw failTooLarge(maxBytes);
  return decoder;
}

function isJson(type: string): boolean {
  const charset = CHARSET.exec(type)?.[1]?.toLowerCase() ?? 'utf-8';
  return JSON_TYPE.test(type) && (charset === 'utf-8' || charset === 'utf8');
}

function parse(bytes: Buffer = EMPTY): Body {
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
