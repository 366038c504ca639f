/** Parameters of header values, whose values may be quoted strings (RFC 9110 §5.6.4 and §5.6.6). No I/O. */

/**
 * Returns the parts of a value between the separators. Those inside of quoted strings do not count. The value is read from its end: where proxies have
 * added parts to a value, a quotation mark that a client has left open changes only the client's own parts.
 */
export function splitOutsideQuotes(value: string, separator: ',' | ';'): string[] {
  if (!value.includes('"')) return value.split(separator);
  const parts: string[] = [];
  let end = value.length;
  let isQuoted = false;
  for (let i = value.length - 1; i >= 0; i--) {
    if (value[i] === '"') isQuoted = !isQuoted || isEscaped(value, i);
    else if (value[i] === separator && !isQuoted) {
      parts.push(value.slice(i + 1, end));
      end = i;
    }
  }
  parts.push(value.slice(0, end));
  return parts.reverse();
}

/**
 * Returns the value of the first of these parameters, each `name=value`, that has the name, in lower case; without quotes and escapes. Returns undefined
 * without one, and for a value that is neither quoted nor without white space.
 */
export function readParameter(parameters: readonly string[], name: string): string | undefined {
  for (const parameter of parameters) {
    const mark = parameter.indexOf('=');
    if (mark > 0 && parameter.slice(0, mark).trim().toLowerCase() === name) return readValue(parameter.slice(mark + 1).trim());
  }
  return undefined;
}

function readValue(text: string): string | undefined {
  if (text.length > 1 && text.startsWith('"') && text.endsWith('"')) return text.slice(1, -1).replace(/\\([^])/g, '$1');
  return /[\s"]/.test(text) ? undefined : text;
}

/** Returns whether an odd number of backslashes stands before the character. */
function isEscaped(value: string, at: number): boolean {
  let start = at;
  while (value[start - 1] === '\\') start--;
  return (at - start) % 2 === 1;
}
