/** A collector of OpenTelemetry spans: takes OTLP as JSON over HTTP, on a port that the system chooses. */
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ExportedSpan {
  readonly name: string;
  /** 1 internal, 2 server, 3 client (OTLP `SpanKind`). */
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly { key: string; value: { stringValue?: string; intValue?: number } }[];
  /** The resource's `service.name`. */
  readonly service: string;
}

export interface Collector {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint: string;
  /** All that was exported so far. */
  readonly spans: readonly ExportedSpan[];
  stop(): Promise<void>;
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: ExportedSpan['attributes'] };
    readonly scopeSpans: readonly { readonly spans: readonly Omit<ExportedSpan, 'service'>[] }[];
  }[];
}

export async function startCollector(): Promise<Collector> {
  const spans: ExportedSpan[] = [];
  const take = ({ resourceSpans }: Export) => {
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
      for (const scope of scopeSpans) spans.push(...scope.spans.map((span) => ({ ...span, service })));
    }
  };
  const server: Server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      take(JSON.parse(Buffer.concat(chunks).toString()) as Export);
      response.setHeader('content-type', 'application/json');
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    spans,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
