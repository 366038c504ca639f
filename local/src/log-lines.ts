/** What the terminal shows of a process's log: warnings and errors, one readable line each. Everything is in the log file. */

interface LogLine {
  readonly level?: unknown;
  readonly time?: unknown;
  readonly msg?: unknown;
  readonly requestId?: unknown;
  readonly code?: unknown;
  readonly error?: { readonly type?: unknown; readonly message?: unknown };
}

/** Gives the line for the terminal, or undefined for one that needs nobody's attention. */
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
