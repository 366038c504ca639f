/** Exports the lines of the log with OTLP. Loaded only where that is on. */
import { type AnyValueMap, SeverityNumber } from '@opentelemetry/api-logs';
import { ROOT_CONTEXT, TraceFlags, trace } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, type LogRecordExporter, LoggerProvider } from '@opentelemetry/sdk-logs';

/** Where lines go. */
export interface LogExportOptions {
  readonly resource: Resource;
  readonly exporter: LogRecordExporter;
}

/** Exports lines. */
export interface LogExport {
  /** Adds a line of the log: a JSON object with `level`, `time` and `msg`. Its other members become attributes. Leaves out any other line; never throws. */
  add(line: string): void;
  /** Exports what was added, and resolves. */
  stop(): Promise<void>;
}

interface Line extends AnyValueMap {
  readonly level: keyof typeof SEVERITIES;
  readonly time: string;
  readonly msg: string;
  readonly traceId?: string;
  readonly spanId?: string;
}

const SEVERITIES = {
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
} as const;

/** Lines that wait; further ones are dropped. With the next limits this bounds their bytes. */
const MAX_LINES = 2048;
const MAX_VALUE_LENGTH = 2048;
const INTERVAL_MS = 1000;

/** Creates the export. A collector that is away costs the lines of that time; they are on standard output nevertheless. */
export function createLogExport({ resource, exporter }: LogExportOptions): LogExport {
  const provider = new LoggerProvider({
    resource,
    logRecordLimits: { attributeValueLengthLimit: MAX_VALUE_LENGTH },
    processors: [
      new BatchLogRecordProcessor({
        exporter,
        maxQueueSize: MAX_LINES,
        maxExportBatchSize: MAX_LINES / 4,
        scheduledDelayMillis: INTERVAL_MS,
      }),
    ],
  });
  const logger = provider.getLogger('trestle');
  return {
    add(text) {
      const line = parseLine(text);
      if (!line) return;
      const { level, time, msg, traceId, spanId, error, ...fields } = line;
      logger.emit({
        timestamp: new Date(time),
        severityNumber: SEVERITIES[level],
        severityText: level,
        body: msg,
        attributes: { ...fields, ...toExceptionAttributes(error) },
        context:
          traceId !== undefined && spanId !== undefined
            ? trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.SAMPLED })
            : ROOT_CONTEXT,
      });
    },
    stop: () => provider.shutdown(),
  };
}

/** Returns undefined for what is no JSON object: a line that cannot be exported must not fail the request that has written it. */
function parseLine(text: string): Line | undefined {
  try {
    const line: unknown = JSON.parse(text);
    return typeof line === 'object' && line !== null ? (line as Line) : undefined;
  } catch {
    return undefined;
  }
}

/** The attributes of an exception (OpenTelemetry, "Exceptions in logs"). Causes are on standard output only. */
function toExceptionAttributes(error: unknown): AnyValueMap {
  if (typeof error !== 'object' || error === null) return {};
  const { type, message, stack } = error as Readonly<Record<string, string>>;
  return { 'exception.type': type, 'exception.message': message, 'exception.stacktrace': stack };
}
