/** What commands report, in the three formats: text with code frames, JSON, and annotations for GitHub Actions. */
import type { GraphFault, Severity } from '@trestle/graph-checks/faults';
import { codeFrame } from './code-frame.ts';
import { type Terminal, stripControl } from './terminal.ts';

/** The formats of `--format`. */
export const FORMATS = ['text', 'json', 'github'] as const;

/** A format of `--format`. */
export type Format = (typeof FORMATS)[number];

/** A text that faults can point into. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** The files by the names that faults have in `subgraph`. */
export type Sources = ReadonlyMap<string, SourceFile>;

/** Writes what a command found. */
export interface Reporter {
  readonly format: Format;
  /** Writes one fault. Nothing in JSON, where `finish` has the data. */
  readonly fault: (fault: GraphFault, sources: Sources) => void;
  /** Writes a line for people to standard output. Nothing in JSON. */
  readonly line: (text: string) => void;
  /** Writes data that other commands read, such as an SDL, unless the format is JSON. */
  readonly data: (text: string) => void;
  /** Writes a line about progress to standard error, if that is a terminal. */
  readonly progress: (text: string) => void;
  /** Ends the output: in JSON it writes everything. */
  readonly finish: (data: Readonly<Record<string, unknown>>) => void;
  readonly terminal: Terminal;
}

const GITHUB_LEVEL: Record<Severity, string> = { error: 'error', warning: 'warning', info: 'notice' };

/** Creates the reporter of a format. */
export function createReporter(format: Format, terminal: Terminal): Reporter {
  const isJson = format === 'json';
  const line = (text: string) => {
    if (!isJson) terminal.out(`${text}\n`);
  };
  return {
    format,
    terminal,
    line,
    fault: (fault, sources) => {
      if (format === 'github') line(toAnnotation(fault, sources));
      else if (!isJson) line(toText(fault, sources, terminal));
    },
    data: (text) => {
      if (!isJson) terminal.out(text);
    },
    progress: (text) => {
      if (terminal.isInteractive) terminal.err(`${terminal.paint.dim(text)}\n`);
    },
    finish: (data) => {
      if (isJson) terminal.out(`${JSON.stringify({ json_version: '1', data, error: null })}\n`);
    },
  };
}

/** Writes the error that ended a command. */
export function reportError(error: { readonly message: string; readonly code: string }, format: Format, terminal: Terminal): void {
  const { message, code } = error;
  if (format === 'json') terminal.out(`${JSON.stringify({ json_version: '1', data: null, error: { code, message } })}\n`);
  else if (format === 'github') terminal.out(`::error title=${escapeProperty(code)}::${escapeData(stripControl(message))}\n`);
  else terminal.err(`${terminal.paint.red('error')} ${stripControl(message)}\n`);
}

/** Returns a fault with its place and code frame. */
function toText(fault: GraphFault, sources: Sources, { paint }: Terminal): string {
  const { code, message, severity, line, column } = fault;
  const color = severity === 'error' ? paint.red : severity === 'warning' ? paint.yellow : paint.dim;
  const head = `${color(severity)} ${paint.bold(code)} ${stripControl(message)}`;
  const source = fault.subgraph === null ? undefined : sources.get(fault.subgraph);
  if (fault.subgraph === null || line === null || column === null) return head;
  const place = `  ${source?.path ?? `subgraph ${stripControl(fault.subgraph)}`}:${String(line)}:${String(column)}`;
  const frame = source === undefined ? '' : codeFrame(source.text, { line, column }, paint);
  return [head, place, ...(frame === '' ? [] : [frame])].join('\n');
}

/** Returns a fault as a workflow command of GitHub Actions. */
function toAnnotation({ code, message, severity, subgraph, line, column }: GraphFault, sources: Sources): string {
  const source = subgraph === null ? undefined : sources.get(subgraph);
  const place =
    source && line !== null && column !== null ? `file=${escapeProperty(source.path)},line=${String(line)},col=${String(column)},` : '';
  return `::${GITHUB_LEVEL[severity]} ${place}title=${escapeProperty(code)}::${escapeData(stripControl(message))}`;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
