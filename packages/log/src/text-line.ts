/** Writes lines of the log for people at a terminal. No I/O. */

/** What a terminal could take for a command, or a reader for another line. JSON leaves the controls above U+007E, and marks of direction, as they are. */
// eslint-disable-next-line no-control-regex -- controls are what it finds
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const PLAIN = /^[\w/.:@%+-]+$/;

/** What every line has, and the error that it may have, beside other fields. */
interface Line {
  readonly level: string;
  readonly time: string;
  /** Missing in the line about dropped lines. */
  readonly service?: string;
  readonly msg: string;
  readonly error?: Described;
}

interface Described {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: Described;
}

/**
 * Returns a line of the log in JSON as text: time, level, message, and the other fields as `name=value`. An error follows on lines of its own, which are
 * indented: its stack, else its message, then its causes. Characters that control terminals are written as escapes.
 */
export function toText(line: string): string {
  const { level, time, service, msg, error, ...fields } = JSON.parse(line) as Line;
  const members = Object.entries(fields).map(([name, value]) => `${name}=${toValue(value)}`);
  const head = [time, level.toUpperCase().padEnd(5), ...(service === undefined ? [] : [service]), escape(msg), ...members].join(' ');
  return `${[head, ...(error === undefined ? [] : toErrorLines(error))].join('\n')}\n`;
}

function toErrorLines({ type, message, stack, cause }: Described): string[] {
  const own = (stack ?? `${type}: ${message}`).split('\n').map((each) => `    ${escape(each.trim())}`);
  return cause ? [...own, '    caused by', ...toErrorLines(cause)] : own;
}

function toValue(value: unknown): string {
  return typeof value === 'string' && PLAIN.test(value) ? value : escape(JSON.stringify(value));
}

function escape(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
