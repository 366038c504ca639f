/** Reads a whole request body within a limit (RFC 9110 §15.5.14). */
import type { IncomingMessage } from 'node:http';
import { Fault, fail } from '@trestle/schema/errors';

/**
 * Returns the body as text. Throws PAYLOAD_TOO_LARGE above `maxBytes`, and REQUEST_TIMEOUT when the connection closes before the body is complete. The
 * request is not destroyed, because the error is sent over the same connection.
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw fail('PAYLOAD_TOO_LARGE', `The request body exceeds the limit of ${String(maxBytes)} bytes.`);
      chunks.push(chunk);
    }
  } catch (error) {
    // The client disconnected, or was too slow and already got its 408: nobody reads the response.
    throw error instanceof Fault ? error : fail('REQUEST_TIMEOUT', 'The request body did not arrive completely.', { cause: error });
  }
  return Buffer.concat(chunks).toString();
}
