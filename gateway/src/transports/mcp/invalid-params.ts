/** Finds what is wrong with the parameters of a request (JSON-RPC §5.1: -32602). The SDK reports it as an internal error. No I/O. */
import {
  CallToolRequestSchema,
  InitializeRequestSchema,
  ListToolsRequestSchema,
  PingRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

const SCHEMAS = [CallToolRequestSchema, InitializeRequestSchema, ListToolsRequestSchema, PingRequestSchema];
const BY_METHOD = new Map<unknown, (typeof SCHEMAS)[number]>(SCHEMAS.map((schema) => [schema.shape.method.value, schema]));
/** Faults that a message names. */
const MAX_FAULTS = 5;

/** Returns a message about the parameters of a request of JSON-RPC; undefined where they are valid, and for other messages and methods. */
export function findInvalidParams(message: object): string | undefined {
  const schema = BY_METHOD.get('method' in message && 'id' in message ? message.method : undefined);
  const { error } = schema?.safeParse(message) ?? {};
  if (!error) return undefined;
  const faults = error.issues.slice(0, MAX_FAULTS).map(({ path, message: fault }) => `\`${path.join('.').slice(0, 100)}\`: ${fault}`);
  return `The parameters are not valid. ${faults.join('; ')}`;
}
