/** The exit codes of `trestle`, which docs/cli.md lists, and the errors that lead to them. */

/** Exit codes by what happened. */
export const EXIT = {
  success: 0,
  /** The schema is refused: it does not compose, breaks clients, or violates lint. */
  refused: 1,
  /** The command line is wrong, or a file cannot be read. */
  usage: 2,
  /** The check found nothing, and too little was recorded to say so. */
  notEnoughData: 3,
  /** The registry or another server cannot be reached, or refuses the request. */
  server: 4,
  /** What `--wait-for` waited for did not happen in time. */
  waited: 5,
  /** A fault of the command itself. */
  internal: 70,
} as const;

/** An exit code. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** An error with the exit code that it leads to. Its message is for the user. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;
  /** A code for machines, such as `USAGE` or the registry's `FORBIDDEN`. */
  readonly code: string;

  constructor(message: string, exitCode: ExitCode, code: string) {
    super(message);
    this.exitCode = exitCode;
    this.code = code;
  }
}

/** Returns the error for a wrong command line. */
export function usageError(message: string): CommandError {
  return new CommandError(message, EXIT.usage, 'USAGE');
}
