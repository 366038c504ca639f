/** The entries of the settings that limit requests and operations. */
import { type Entry, type FileSettingName, atOnce, atStart } from './entry.ts';

export const LIMIT_ENTRIES = {
  MAX_DEPTH: atOnce('limits.maxDepth', 'Nested fields of an operation.'),
  MAX_ALIASES: atOnce('limits.maxAliases', 'Aliases of an operation.'),
  MAX_ROOT_FIELDS: atOnce('limits.maxRootFields', 'Root fields of an operation.'),
  MAX_SELECTIONS: atOnce('limits.maxSelections', 'Selections of an operation, with fragments expanded.'),
  MAX_DEFERRED: atOnce('limits.maxDeferred', 'Directives @defer and @stream of a document; 0 switches incremental delivery off.'),
  MAX_INPUT_DEPTH: atOnce('limits.maxInputDepth', 'Nested input objects, in literals and variables.'),
  MAX_TOKENS: atOnce('limits.maxTokens', 'Tokens of a document.'),
  LIMITS_MODE: atOnce(
    'limits.mode',
    'Whether operations above maxDepth, maxAliases, maxRootFields, maxSelections, maxInputDepth or maxDeferred are refused (enforce), or executed, counted and logged (measure).',
  ),
  MAX_COST: atOnce('limits.maxCost', 'The estimated cost of an operation.'),
  ASSUMED_LIST_SIZE: atOnce(
    'limits.assumedListSize',
    'How many elements the estimated cost assumes of a list, where neither @listSize nor an argument says it.',
  ),
  COST_MODE: atOnce('limits.costMode', 'Whether operations above maxCost are refused (enforce), or executed and counted (measure).'),
  INTROSPECTION: atOnce(
    'limits.introspection',
    'Whether clients may query __schema and __type. When off, errors suggest no names of the schema.',
    { flag: 'introspection' },
  ),
  MUTATIONS: atOnce('limits.mutations', 'Whether clients may send mutations. Their fields stay in the schema.'),
  MAX_RESPONSE_BYTES: atStart('limits.maxResponseBytes', 'Bytes of a response.'),
  MAX_BATCH: atStart('limits.maxBatch', 'Operations in one request; 1 for no batches.'),
  MAX_BODY_BYTES: atStart('limits.maxBodyBytes', 'Bytes of a request body without files, as it is sent and decompressed.'),
  MAX_UPLOAD_BYTES: atStart('limits.maxUploadBytes', 'Bytes of all files in one request.'),
} satisfies Partial<Record<FileSettingName, Entry>>;
