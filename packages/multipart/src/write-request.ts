/** Writes GraphQL multipart requests, piece by piece. No I/O. */
import type { MultipartHead } from './read-head.ts';

/** Returns the beginning of a request up to the delimiter behind `map`, which its files follow. */
export function toHead(boundary: string, { operations, map }: MultipartHead): string {
  return `--${boundary}\r\n${field('operations', operations)}--${boundary}\r\n${field('map', map)}--${boundary}`;
}

/** Returns what stands between a delimiter and the content of a file. `mediaType` must be a valid one. */
export function toFileStart(name: string, mediaType: string): string {
  return `\r\nContent-Disposition: form-data; name="${name}"; filename="file"\r\nContent-Type: ${mediaType}\r\n\r\n`;
}

/** Returns what stands behind the content of the last file. */
export function toEnd(boundary: string): string {
  return `\r\n--${boundary}--\r\n`;
}

function field(name: string, content: string): string {
  return `Content-Disposition: form-data; name="${name}"\r\nContent-Type: application/json\r\n\r\n${content}\r\n`;
}
