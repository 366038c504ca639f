/** The sections of a configuration file, and what stands in them beside the settings of `entries.ts`. */

/** The sections of a configuration file, in order. */
export const SECTIONS = {
  server: 'The HTTP server: addresses, certificate, limits of connections, and how it stops.',
  log: 'The log, as lines on standard output.',
  telemetry: 'OpenTelemetry: what is exported of traces, metrics and the log, and where to.',
  supergraph: 'The supergraph that is served, and its source: one of file, url, registry, hive and uplink.',
  subgraphs: 'Settings of single subgraphs, by name.',
  engine: 'What plans and executes operations.',
  traffic: 'Requests to subgraphs.',
  headers: 'Headers that go to subgraphs and back.',
  errors: 'Errors that subgraphs report.',
  authentication: 'Credentials of clients.',
  authorization: 'The rights of callers.',
  rateLimits: 'Requests per minute.',
  limits: 'Limits of requests and operations. What exceeds them is refused, but for mode: measure and costMode: measure.',
  responseCache: 'Results of queries, kept as long as @cacheControl in the schema allows.',
  documents: 'Documents that clients send by id.',
  mcp: 'Trusted documents as tools for agents, by the Model Context Protocol.',
  subscriptions: 'WebSockets, event streams, and slow clients.',
  extensions: 'Code of your own at set stages of a request.',
  graphs: 'Several graphs in one process, by name, each with a configuration file of its own.',
  usage: 'Reports of the operations that clients send.',
} as const;

/** What the settings of one subgraph mean, by their key. All take effect at once. */
export const SUBGRAPH_ENTRIES = {
  url: 'The address of the subgraph, in place of that in the supergraph.',
  urls: 'Several addresses of the subgraph, among which requests are spread, in place of url.',
  subscriptionUrl: 'The address of its subscriptions, if it is another one.',
  subscriptionProtocol:
    'How it sends events: ws (graphql-transport-ws, the default), sse (GraphQL over SSE) or callback (server.callbackUrl).',
  errors: 'What clients see of its errors, in place of errors.show.',
  'limits.assumedListSize': 'The assumed size of its lists, in place of limits.assumedListSize.',
  'errorExtensions.allow': 'The extensions of its errors that clients see, in place of errors.extensions.allow.',
  'errorExtensions.deny': 'The extensions of its errors that clients do not see, in place of errors.extensions.deny.',
  'tls.caFile': 'Authorities (PEM) that are trusted for its certificate, in place of traffic.tls.caFile. The file is watched.',
  'tls.certificateFile': 'The client certificate for it (PEM), in place of traffic.tls.certificateFile. The file is watched.',
  'tls.keyFile': 'The private key of that certificate (PEM). The file is watched.',
  'awsSigV4.enabled': 'Whether requests to it are signed, in place of traffic.awsSigV4.enabled.',
  'awsSigV4.region': 'The region of its signatures, in place of traffic.awsSigV4.region.',
  'awsSigV4.service': 'The service of its signatures, in place of traffic.awsSigV4.service.',
  'awsSigV4.profile': 'The profile of the credentials, in place of traffic.awsSigV4.profile.',
  'awsSigV4.roleArn': 'The role that is assumed, in place of traffic.awsSigV4.roleArn.',
  'awsSigV4.externalId': 'The external id of the role, in place of traffic.awsSigV4.externalId.',
  'awsSigV4.sessionName': 'The name of the session of the role, in place of traffic.awsSigV4.sessionName.',
  'traffic.client': 'The HTTP client for it, in place of traffic.client.',
  'traffic.timeoutMs': 'The time limit of a request to it, in place of traffic.timeoutMs.',
  'traffic.maxConnections': 'The most connections to each of its addresses, in place of traffic.maxConnections.',
  'traffic.idleTimeoutMs': 'How long an idle connection to it is kept, in place of traffic.idleTimeoutMs.',
  'traffic.retryPercent': 'How many of 100 requests to it may be sent again, in place of traffic.retryPercent.',
  'traffic.retryStatuses': 'The statuses after which a query is sent to it again, in place of traffic.retryStatuses.',
  'traffic.breakerFailures': 'How many failures open its circuit, in place of traffic.breakerFailures.',
  'traffic.breakerOpenMs': 'How long its open circuit allows no request, in place of traffic.breakerOpenMs.',
  'traffic.ejectionFailures': 'How many failures eject one of its addresses, in place of traffic.ejectionFailures.',
  'traffic.ejectionMs': 'For how long, the first time, in place of traffic.ejectionMs.',
  'traffic.requestsPerSecond': 'How many requests it gets in a second, in place of traffic.requestsPerSecond.',
  'traffic.maxResponseBytes': 'Bytes of one of its responses, in place of traffic.maxResponseBytes.',
  'traffic.persistedQueries': 'Whether it gets hashes of documents, in place of traffic.persistedQueries.',
  'responseCache.enabled': 'Whether its results are kept, in place of responseCache.allSubgraphs.',
  'responseCache.ttlSeconds': 'How long its fetches without a time are kept, in place of responseCache.ttlSeconds.',
} as const;

/** What the settings of one of several graphs mean, by their key. They take effect at the next start. */
export const GRAPH_ENTRIES = {
  config: 'The configuration file of the graph, with its supergraph.',
  path: 'A path before server.path at which the graph is served, such as /shop.',
  hosts: 'Names of hosts, as clients name them in Host, for which the graph is served.',
} as const;

/** What a header of requests to `supergraph.url` means. It takes effect at the next start. */
export const SOURCE_HEADERS = {
  all: 'Headers of requests to the URL, by name, such as Authorization. They are not sent to other origins.',
  each: 'The value of the header. In the environment, _ stands for - in its name.',
} as const;

/** What the settings of one stage of the coprocessor mean, by their key. They take effect at the next start. */
export const STAGE_ENTRIES = {
  all: 'Settings of single stages, by name, in place of those for all. The stages must be among `stages`.',
  url: 'The address that is called at this stage, in place of extensions.coprocessor.url.',
  timeoutMs: 'The time limit of its calls, in place of extensions.timeoutMs.',
  onFailure: 'What happens without a usable response in time: the request is refused (refuse, the default), or goes on (pass).',
} as const;

/** What the rules for headers are. They take effect at the next start. */
export const RULES = {
  request: 'Rules for the headers of requests to subgraphs, in order. Those for all subgraphs come first.',
  response: "Rules for the headers of subgraphs' responses that clients get by HTTP, in order. Those for all subgraphs come first.",
} as const;
