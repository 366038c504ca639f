/** Writes a name with a value as an environment variable of OpenTelemetry has it (W3C Baggage). No I/O. */

/** Separators of pairs, the escape itself, and spaces, which are removed at the ends of values. */
const RESERVED = /[%,=\s]/g;

/** Returns `name=value`, where both are percent-encoded as far as their reader needs it. */
export function writePair(name: string, value: string): string {
  return `${encode(name)}=${encode(value)}`;
}

function encode(text: string): string {
  return text.replace(RESERVED, encodeURIComponent);
}
