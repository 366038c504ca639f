/** Reads a whole request body within a limit (RFC 9110 §15.5.14). */
import type { IncomingMessage } from 'node:http';
import { Fault, fail } from '@trestle/schema/errors';
import { CollectedBytes } from '@trestle/service/messages/collected-bytes';

/**
 * Returns the body. Throws PAYLOAD_TOO_LARGE above `maxBytes`, and REQUEST_TIMEOUT when the connection closes before the body is complete. The
 * request is not destroyed, because the error is sent over the same connection.
 */
export async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = () => fail('PAYLOAD_TOO_LARGE', `Request body exceeds the limit of ${String(maxBytes)} bytes.`);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  const bytes = new CollectedBytes();
  let size = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge();
      bytes.add(chunk);
    }
  } catch (error) {
    // The client disconnected, or was too slow and already got its 408: nobody reads the response.
    throw error instanceof Fault ? error : fail('REQUEST_TIMEOUT', 'The request body did not arrive completely.', { cause: error });
  }
  return bytes.toBuffer();
}
