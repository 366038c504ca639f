/** Parses server-sent events (HTML, "Server-sent events") that arrive in pieces. No I/O. */

/** An event with its name and its data. */
export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
}

/** Returns the events that a piece of the stream completes. Throws an Error for a block that is too long. */
export type ParseEvents = (piece: string) => readonly ServerSentEvent[];

/** Creates a parser of one stream. Events without data are left out, as a browser does. */
export function createEventParser(maxCharacters: number): ParseEvents {
  let rest = '';
  return (piece) => {
    const blocks = `${rest}${piece}`.split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? '';
    if (rest.length > maxCharacters) throw new Error('A server-sent event is too long');
    return blocks.flatMap(parseBlock);
  };
}

function parseBlock(block: string): ServerSentEvent[] {
  let event = 'message';
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const [name, value] = splitOnce(line);
    if (name === 'event') event = value;
    if (name === 'data') data.push(value);
  }
  return data.length > 0 ? [{ event, data: data.join('\n') }] : [];
}

function splitOnce(line: string): readonly [string, string] {
  const colon = line.indexOf(':');
  if (colon < 0) return [line, ''];
  const value = line.slice(colon + 1);
  return [line.slice(0, colon), value.startsWith(' ') ? value.slice(1) : value];
}
