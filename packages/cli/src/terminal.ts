/** Writes to standard output and standard error: colours only on a terminal, and never a control character of a schema or a server. */

/** Where a command writes. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether standard error is a terminal on which progress can be shown. */
  readonly isInteractive: boolean;
  readonly paint: Paint;
}

/** The ways to emphasize text; each returns the text as it is when colours are off. */
export interface Paint {
  readonly bold: (text: string) => string;
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly green: (text: string) => string;
  readonly dim: (text: string) => string;
}

type Environment = Readonly<Record<string, string | undefined>>;

// eslint-disable-next-line no-control-regex -- these are the characters to remove
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** What GitHub Actions takes for a command when it is in a log: `::` at the beginning of a line, and the older form `##[`. */
const COMMAND = /(?<!\S):(?=:)|(?<=#)#(?=\[)/gu;

/**
 * Returns text without control characters, and without commands of GitHub Actions, so that a schema or a server can change neither what a terminal
 * shows nor how a job runs.
 */
export function stripControl(text: string): string {
  return text.replace(CONTROL, '\ufffd').replace(COMMAND, '\ufffd');
}

/** Creates the terminal of a process. `NO_COLOR` switches colours off, `FORCE_COLOR` on (no-color.org). */
export function createTerminal(streams: Pick<NodeJS.Process, 'stdout' | 'stderr'>, env: Environment): Terminal {
  const isForced = env['FORCE_COLOR'] !== undefined && env['FORCE_COLOR'] !== '0';
  const hasColors = isForced || (streams.stdout.isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb');
  return {
    out: (text) => void streams.stdout.write(text),
    err: (text) => void streams.stderr.write(text),
    isInteractive: streams.stderr.isTTY,
    paint: createPaint(hasColors),
  };
}

/** Creates the ways to emphasize text by ANSI escape sequences. */
export function createPaint(hasColors: boolean): Paint {
  const wrap = (code: number) => (text: string) => (hasColors ? `\u001b[${String(code)}m${text}\u001b[0m` : text);
  return { bold: wrap(1), red: wrap(31), yellow: wrap(33), green: wrap(32), dim: wrap(2) };
}
