/** The entries of the settings of the process: its server, its log and its telemetry. */
import { type Entry, type FileSettingName, atOnce, atStart } from './entry.ts';

export const PROCESS_ENTRIES = {
  GATEWAY_PORT: atStart('server.port', 'The port to listen on; 0 for any free one.', { flag: 'port', placeholder: 'N', stronger: 'PORT' }),
  WORKERS: atStart('server.workers', 'Processes that serve the port together, for as many cores.', { flag: 'workers', placeholder: 'N' }),
  HOST: atStart('server.host', 'The address to listen on.', { flag: 'host', placeholder: 'ADDRESS' }),
  TLS_CERT_FILE: atStart(
    'server.tls.certificateFile',
    'The certificate (PEM). With it the port serves HTTPS by HTTP/1.1 and HTTP/2. The file is watched.',
  ),
  TLS_KEY_FILE: atStart('server.tls.keyFile', 'The private key of the certificate (PEM). The file is watched.'),
  TLS_CLIENT_CA_FILE: atStart('server.tls.clientCaFile', 'The authorities (PEM) that sign certificates of clients. The file is watched.'),
  TLS_CLIENT_CERTIFICATE: atStart(
    'server.tls.clientCertificate',
    'Whether clients present a certificate: require; request (those without one are served too); none.',
    { otherwise: 'require where clientCaFile is set, else none' },
  ),
  TLS_CLIENT_SUBJECT_HEADER: atStart(
    'server.tls.clientSubjectHeader',
    "The request header that the server sets to the subject of the client's certificate, such as x-client-subject. What clients send under it is removed.",
  ),
  PUBLIC_URL: atStart('server.publicUrl', 'The address by which clients know this server, such as https://api.example.com.'),
  CORS_ORIGINS: atStart(
    'server.corsOrigins',
    'Origins whose pages may read responses, such as https://app.example.com or capacitor://localhost, or with * for a part of one label, https://*.example.com.',
  ),
  CORS_REQUEST_HEADERS: atStart(
    'server.corsRequestHeaders',
    'Request headers that these pages may send, besides common ones and those that go to subgraphs.',
  ),
  CORS_RESPONSE_HEADERS: atStart(
    'server.corsResponseHeaders',
    'Response headers that scripts of these pages may read, besides common ones and those of headers.response.',
  ),
  CORS_CREDENTIALS: atStart(
    'server.corsCredentials',
    'Whether requests of these pages may have cookies and client certificates of the browser.',
  ),
  CORS_MAX_AGE_SECONDS: atStart('server.corsMaxAgeSeconds', 'How long browsers may keep the answer to a preflight request.'),
  TRUSTED_PROXIES: atStart(
    'server.trustedProxies',
    'Addresses and CIDR ranges of the proxies in front, whose X-Forwarded-For and Forwarded are trusted.',
  ),
  GRAPHQL_PATH: atStart('server.path', 'The path of GraphQL requests, such as /api/graphql, or /.'),
  LIVENESS_PATH: atStart('server.livenessPath', 'A further path of the liveness probe, such as /health. It is at /livez too.', {
    otherwise: '/livez only',
  }),
  READINESS_PATH: atStart('server.readinessPath', 'A further path of the readiness probe, such as /ready. It is at /readyz too.', {
    otherwise: '/readyz only',
  }),
  GRAPHIQL: atStart('server.graphiql', 'Whether browsers get GraphiQL at server.path.'),
  METRICS_PORT: atStart('server.metricsPort', 'A separate port for /metrics, and also for the probes, by plain HTTP.', {
    otherwise: "the server's port, for this machine only",
  }),
  MAX_CONNECTIONS: atStart('server.maxConnections', 'The most open connections.'),
  MAX_CONNECTIONS_PER_ADDRESS: atStart('server.maxConnectionsPerAddress', 'The most open connections of one address.', {
    otherwise: 'half of all',
  }),
  GATEWAY_MAX_EVENT_LOOP_DELAY_MS: atStart(
    'server.maxEventLoopDelayMs',
    'The mean delay of the event loop, over a second, above which new requests are answered 503.',
    { otherwise: 'no limit' },
  ),
  HEADERS_TIMEOUT_MS: atStart('server.headersTimeoutMs', 'How long a client may take to send the headers of a request.'),
  REQUEST_TIMEOUT_MS: atStart('server.requestTimeoutMs', 'How long it may take to send a whole request.'),
  UPLOAD_TIMEOUT_MS: atStart('server.uploadTimeoutMs', 'How long it may take to send a request with files.'),
  KEEP_ALIVE_TIMEOUT_MS: atStart(
    'server.keepAliveTimeoutMs',
    'How long an idle connection is kept open. Set it longer than the idle time of a proxy in front.',
  ),
  WRITE_TIMEOUT_MS: atStart('server.writeTimeoutMs', 'A connection whose client reads no byte for so long is closed.'),
  MIN_BODY_BYTES_PER_SECOND: atStart('server.minBodyBytesPerSecond', 'The lowest rate of a request body; 0 for no limit.'),
  BODY_GRACE_MS: atStart('server.bodyGraceMs', 'The time over which that rate is measured.'),
  MAX_RECEIVING_BYTES: atStart('server.maxReceivingBytes', 'The most bytes of unfinished request bodies of the process.'),
  MAX_SENDING_BYTES: atStart('server.maxSendingBytes', 'The most bytes of unsent responses of the process.'),
  CLIENT_ID_KEY_FILE: atStart(
    'server.clientIdKeyFile',
    'A key of at least 32 characters, with which other processes sign the client that they pass on.',
  ),
  RESPONSE_COMPRESSION: atStart('server.compression', 'Whether results are compressed (gzip, br) for clients that accept it.'),
  REQUEST_READER: atStart(
    'server.requestReader',
    'What reads requests: lean (POSTs of JSON to server.path that arrive in one piece; Node.js reads all others), or node (the parser of Node.js).',
  ),
  DRAIN_DELAY_MS: atStart(
    'server.drainDelayMs',
    "How long the process serves after SIGTERM, with /readyz at 503. Set it longer than the interval of the load balancer's checks.",
  ),
  REQUEST_DRAIN_MS: atStart('server.requestDrainMs', 'How long requests in flight may take after that.'),
  SUBSCRIPTION_CALLBACK_URL: atStart(
    'server.callbackUrl',
    'The address at which subgraphs with subscriptionProtocol: callback reach this process, such as http://10.0.0.5:4100/callbacks.',
    { otherwise: 'no callbacks are received' },
  ),
  SUBSCRIPTION_CALLBACK_PORT: atStart('server.callbackPort', 'The port that receives callbacks.', { otherwise: 'that of callbackUrl' }),
  SUBSCRIPTION_CALLBACK_HEARTBEAT_MS: atStart(
    'server.callbackHeartbeatMs',
    'How often these subgraphs ask whether a subscription still exists. Without a message for three times as long, it is lost.',
  ),
  SUBSCRIPTION_DRAIN_MS: atStart('server.subscriptionDrainMs', 'The time over which a stopping process closes its sockets and streams.'),
  LOG_LEVEL: atOnce('log.level', 'The lowest level that is logged.'),
  LOG_FORMAT: atStart('log.format', 'How lines are written: as JSON, or as text for people at a terminal.'),
  OTEL_SERVICE_NAME: atStart('telemetry.serviceName', 'The attribute service.name of all that is exported.', {
    otherwise: 'that of resourceAttributes, else trestle-gateway',
  }),
  OTEL_RESOURCE_ATTRIBUTES: atStart(
    'telemetry.resourceAttributes',
    'Attributes of all that is exported, such as deployment.environment.name; at most 64.',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: atStart('telemetry.otlpEndpoint', 'The OpenTelemetry collector (OTLP; over HTTP, /v1/traces is appended).', {
    otherwise: 'nothing is exported',
  }),
  OTEL_EXPORTER_OTLP_PROTOCOL: atStart('telemetry.protocol', 'How it is exported: over HTTP as JSON or as protobuf, or by gRPC.'),
  OTEL_EXPORTER_OTLP_HEADERS: atStart(
    'telemetry.headers',
    'Request headers to the collector, such as Authorization: ${OTLP_TOKEN}; at most 32. They are never logged.',
  ),
  OTEL_INSTRUMENTATION_HTTP_CAPTURE_HEADERS_SERVER_REQUEST: atStart(
    'telemetry.requestHeaders',
    'Request headers whose values spans and lines of the access log have, such as X-Tenant; at most 16, and none with a credential.',
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: atStart('telemetry.traces.endpoint', 'Where traces go, with the path.', {
    otherwise: 'otlpEndpoint with /v1/traces',
  }),
  OTEL_PROPAGATORS: atStart(
    'telemetry.propagators',
    'The formats of trace contexts that are read from requests and sent to subgraphs: tracecontext (traceparent), b3 (one header), b3multi, jaeger, baggage, none.',
  ),
  OTEL_TRACES_SAMPLER: atStart('telemetry.traces.sampler', 'Which traces are exported; parentbased_: as the process before has decided.'),
  OTEL_TRACES_SAMPLER_ARG: atStart('telemetry.traces.ratio', 'The share of traces that traceidratio exports, 0 to 1.'),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: atStart('telemetry.metrics.endpoint', 'Where metrics go, with the path.', {
    otherwise: 'otlpEndpoint with /v1/metrics',
  }),
  OTEL_METRICS_EXPORTER: atStart('telemetry.metrics.exporter', 'Whether metrics are exported too; /metrics has them anyway.'),
  OTEL_METRIC_EXPORT_INTERVAL: atStart('telemetry.metrics.intervalMs', 'The interval of these exports.'),
  OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: atStart('telemetry.logs.endpoint', 'Where the log goes, with the path.', {
    otherwise: 'otlpEndpoint with /v1/logs',
  }),
  OTEL_LOGS_EXPORTER: atStart('telemetry.logs.exporter', 'Whether the log is exported too; standard output has it anyway.'),
} satisfies Partial<Record<FileSettingName, Entry>>;
