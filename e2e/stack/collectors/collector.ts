/** A collector of OpenTelemetry: takes spans, metrics and log records by OTLP as JSON over HTTP, on a port that the system chooses. */
import { type IncomingHttpHeaders, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ExportedSpan {
  readonly name: string;
  /** 1 internal, 2 server, 3 client (OTLP `SpanKind`). */
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  /** Nanoseconds, as a decimal number. */
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { key: string; value: { stringValue?: string; intValue?: number } }[];
  /** The resource's `service.name`. */
  readonly service: string;
}

type Attributes = readonly { key: string; value: { stringValue?: string; intValue?: number | string; doubleValue?: number } }[];

export interface ExportedMetric {
  readonly name: string;
  readonly unit: string;
  readonly sum?: { readonly isMonotonic: boolean; readonly dataPoints: readonly { attributes: Attributes }[] };
  readonly gauge?: { readonly dataPoints: readonly { attributes: Attributes; asDouble?: number; asInt?: number }[] };
  readonly histogram?: {
    readonly dataPoints: readonly {
      readonly attributes: Attributes;
      readonly count: number;
      readonly bucketCounts: readonly number[];
      readonly explicitBounds: readonly number[];
    }[];
  };
  readonly service: string;
}

export interface ExportedRecord {
  readonly severityText: string;
  readonly body: { readonly stringValue: string };
  readonly attributes: Attributes;
  readonly traceId?: string;
  readonly spanId?: string;
  readonly service: string;
}

/** A request of an exporter. */
export interface ExportRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Collector {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint: string;
  /** All that was exported so far. */
  readonly spans: readonly ExportedSpan[];
  readonly metrics: readonly ExportedMetric[];
  readonly records: readonly ExportedRecord[];
  /** All requests so far, also those that are no JSON, whose content is in none of the lists. */
  readonly requests: readonly ExportRequest[];
  stop(): Promise<void>;
}

type Unnamed<Exported> = Omit<Exported, 'service'>;

interface Resource {
  readonly resource: { readonly attributes: Attributes };
}

interface Export {
  readonly resourceSpans?: readonly (Resource & { readonly scopeSpans: readonly { readonly spans: readonly Unnamed<ExportedSpan>[] }[] })[];
  readonly resourceMetrics?: readonly (Resource & {
    readonly scopeMetrics: readonly { readonly metrics: readonly Unnamed<ExportedMetric>[] }[];
  })[];
  readonly resourceLogs?: readonly (Resource & {
    readonly scopeLogs: readonly { readonly logRecords: readonly Unnamed<ExportedRecord>[] }[];
  })[];
}

const serviceOf = ({ resource }: Resource) => resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';

export async function startCollector(): Promise<Collector> {
  const [spans, metrics, records]: [ExportedSpan[], ExportedMetric[], ExportedRecord[]] = [[], [], []];
  const requests: ExportRequest[] = [];
  const take = ({ resourceSpans = [], resourceMetrics = [], resourceLogs = [] }: Export) => {
    for (const each of resourceSpans)
      for (const scope of each.scopeSpans) spans.push(...scope.spans.map((span) => ({ ...span, service: serviceOf(each) })));
    for (const each of resourceMetrics)
      for (const scope of each.scopeMetrics) metrics.push(...scope.metrics.map((metric) => ({ ...metric, service: serviceOf(each) })));
    for (const each of resourceLogs)
      for (const scope of each.scopeLogs) records.push(...scope.logRecords.map((record) => ({ ...record, service: serviceOf(each) })));
  };
  const server: Server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { url: path = '', headers } = incoming;
      const body = Buffer.concat(chunks);
      requests.push({ path, headers, body });
      const type = headers['content-type'] ?? '';
      const isJson = type === 'application/json';
      if (isJson) take(JSON.parse(body.toString()) as Export);
      response.setHeader('content-type', type);
      // An empty response is one without faults in either encoding (OTLP/HTTP Response).
      response.end(isJson ? '{}' : '');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    spans,
    metrics,
    records,
    requests,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
