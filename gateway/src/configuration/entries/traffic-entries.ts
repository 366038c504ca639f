/** The entries of settings of requests to subgraphs. */
import { type Entry, type FileSettingName, atOnce, atStart } from './entry.ts';

/** By the names of their environment variables. */
export const TRAFFIC_ENTRIES = {
  SUBGRAPH_CA_FILE: atOnce('traffic.tls.caFile', 'Authorities (PEM) that are trusted for certificates of subgraphs. The file is watched.', {
    otherwise: 'those of Node.js',
  }),
  SUBGRAPH_CERT_FILE: atOnce('traffic.tls.certificateFile', 'The client certificate for subgraphs (PEM): mutual TLS. The file is watched.'),
  SUBGRAPH_KEY_FILE: atOnce('traffic.tls.keyFile', 'The private key of that certificate (PEM). The file is watched.'),
  SUBGRAPH_AWS_SIGV4: atOnce('traffic.awsSigV4.enabled', 'Whether requests to subgraphs are signed by AWS Signature Version 4.'),
  SUBGRAPH_AWS_REGION: atOnce('traffic.awsSigV4.region', 'The region of signatures, such as eu-central-1.'),
  SUBGRAPH_AWS_SERVICE: atOnce(
    'traffic.awsSigV4.service',
    'The service of signatures: execute-api, lambda, appsync, vpc-lattice-svcs or another.',
  ),
  SUBGRAPH_AWS_PROFILE: atOnce('traffic.awsSigV4.profile', 'The profile of the shared files that has the credentials.', {
    otherwise: "the default chain of AWS's SDKs",
  }),
  SUBGRAPH_AWS_ROLE_ARN: atOnce('traffic.awsSigV4.roleArn', 'A role that is assumed with these credentials.'),
  SUBGRAPH_AWS_EXTERNAL_ID: atOnce('traffic.awsSigV4.externalId', 'The external id that the role asks for.'),
  SUBGRAPH_AWS_SESSION_NAME: atOnce('traffic.awsSigV4.sessionName', 'The name of the session of the role.'),
  SUBGRAPH_TIMEOUT_MS: atOnce('traffic.timeoutMs', 'The time limit of a request to a subgraph.'),
  OPERATION_TIMEOUT_MS: atOnce(
    'traffic.operationTimeoutMs',
    'The time limit of the execution of a query or a mutation: fields that are missing then are null, with an error. 0 for none.',
  ),
  SUBGRAPH_MAX_CONNECTIONS: atOnce('traffic.maxConnections', 'The most connections to each address of a subgraph.'),
  SUBGRAPH_IDLE_TIMEOUT_MS: atOnce(
    'traffic.idleTimeoutMs',
    'How long an idle connection to a subgraph is kept, unless its Keep-Alive is shorter.',
    {
      otherwise: 'as long as Keep-Alive says, else 4 s',
    },
  ),
  SUBGRAPH_RETRY_PERCENT: atOnce('traffic.retryPercent', 'How many of 100 requests to a subgraph may be sent again; 0 for none.'),
  SUBGRAPH_RETRY_STATUSES: atOnce(
    'traffic.retryStatuses',
    'The statuses of responses after which a query is sent to a subgraph again, such as 502, 503 and 504, within retryPercent.',
  ),
  SUBGRAPH_BREAKER_FAILURES: atOnce(
    'traffic.breakerFailures',
    'How many failures of a subgraph within 10 s, without a success in between, open its circuit; 0 for no circuit breaker.',
  ),
  SUBGRAPH_BREAKER_OPEN_MS: atOnce(
    'traffic.breakerOpenMs',
    'How long an open circuit allows no request; then one at a time, until one succeeds.',
  ),
  SUBGRAPH_EJECTION_FAILURES: atOnce(
    'traffic.ejectionFailures',
    'How many failures, without a success in between, eject one of several addresses of a subgraph; 0 for never.',
  ),
  SUBGRAPH_EJECTION_MS: atOnce(
    'traffic.ejectionMs',
    'For how long an address is ejected the first time. Each further time doubles it, up to 30 s.',
  ),
  SUBGRAPH_REQUESTS_PER_SECOND: atOnce(
    'traffic.requestsPerSecond',
    'How many requests a subgraph gets in a second from each process; others fail at once. 0 for no limit.',
  ),
  SUBGRAPH_MAX_RESPONSE_BYTES: atOnce('traffic.maxResponseBytes', 'Bytes of a response of a subgraph, as it is sent and decompressed.'),
  SUBGRAPH_PERSISTED_QUERIES: atOnce(
    'traffic.persistedQueries',
    'Whether subgraphs get the hash of a document, and the document only when they do not know it (automatic persisted queries).',
  ),
  UPSTREAM_CLIENT: atOnce(
    'traffic.client',
    'The HTTP client: lean (HTTP/1.1), undici (also HTTP/2 where a subgraph offers it), or http2 (HTTP/2 alone, many requests on one connection).',
  ),
  UPSTREAM_COMPRESSION: atStart('traffic.compression', 'Whether subgraphs may compress their responses.'),
  UPSTREAM_DEDUPLICATION: atStart(
    'traffic.deduplicate',
    'Whether equal queries of one caller that are in flight are sent to a subgraph once.',
  ),
  OPERATION_DEDUPLICATION: atStart(
    'traffic.deduplicateOperations',
    'Whether equal queries of clients with the same credential that are in flight are executed once.',
  ),
  BATCH_ENTITIES: atStart('traffic.batchEntities', 'Whether equal fetches of entities at several places of a result become one.'),
} satisfies Partial<Record<FileSettingName, Entry>>;
