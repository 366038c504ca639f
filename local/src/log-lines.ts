/** Formats the warnings and errors of a process's log for the terminal. The log file has every line. */

interface LogLine {
  readonly level?: unknown;
  readonly time?: unknown;
  readonly msg?: unknown;
  readonly requestId?: unknown;
  readonly code?: unknown;
  readonly error?: { readonly type?: unknown; readonly message?: unknown };
}

/** Returns the readable form of a warning or error, or undefined for any other line. */
export function toTerminalLine(service: string, text: string): string | undefined {
  const line = readLine(text);
  if (line?.level !== 'warn' && line?.level !== 'error') return undefined;
  const time = /T(\d\d:\d\d:\d\d)/.exec(asText(line.time))?.[1] ?? '';
  const cause = asText(line.error?.message);
  const details = [asText(line.code), cause, line.requestId === undefined ? '' : `request ${asText(line.requestId)}`].filter(Boolean);
  return `${time} ${service} ${line.level}: ${[asText(line.msg), ...details].join('; ')}`.trim().replaceAll(/\s+/g, ' ');
}

function readLine(text: string): LogLine | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
