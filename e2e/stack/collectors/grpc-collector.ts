/** A collector of OpenTelemetry that takes what is exported by gRPC, on a port that the system chooses. */
import { type Metadata, Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData } from '@grpc/grpc-js';

/** A call of an exporter. */
export interface ExportCall {
  readonly signal: 'trace' | 'metrics' | 'logs';
  readonly metadata: Metadata;
  /** The message of the call (protobuf). */
  readonly message: Buffer;
}

export interface GrpcCollector {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint: string;
  /** All calls so far. */
  readonly calls: readonly ExportCall[];
  stop(): void;
}

const SERVICES = { trace: 'TraceService', metrics: 'MetricsService', logs: 'LogsService' } as const;
const asIs = (message: Buffer) => message;

/** Starts the collector. */
export async function startGrpcCollector(): Promise<GrpcCollector> {
  const calls: ExportCall[] = [];
  const server = new Server();
  for (const [signal, service] of Object.entries(SERVICES) as [ExportCall['signal'], string][]) {
    const path = `/opentelemetry.proto.collector.${signal}.v1.${service}/Export`;
    const method = { path, requestStream: false, responseStream: false, originalName: 'export' };
    const codec = { requestSerialize: asIs, requestDeserialize: asIs, responseSerialize: asIs, responseDeserialize: asIs };
    server.addService(
      { Export: { ...method, ...codec } },
      {
        Export({ metadata, request }: ServerUnaryCall<Buffer, Buffer>, respond: sendUnaryData<Buffer>) {
          calls.push({ signal, metadata, message: request });
          respond(null, Buffer.alloc(0));
        },
      },
    );
  }
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
      if (error) reject(error);
      else resolve(bound);
    });
  });
  return {
    endpoint: `http://127.0.0.1:${String(port)}`,
    calls,
    stop: () => {
      server.forceShutdown();
    },
  };
}
