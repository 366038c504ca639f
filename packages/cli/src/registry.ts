/** The client of the registry's GraphQL API. */
import { CommandError, EXIT, usageError } from './exit-codes.ts';
import { type GraphQLResultError, sendGraphQL } from './http.ts';

/** A registry with the credential for it. */
export interface RegistryClient {
  /** Returns the data of an operation. Throws a CommandError with exit code 4 that has the registry's message. */
  readonly send: <Data>(query: string, variables?: Readonly<Record<string, unknown>>, options?: SendOptions) => Promise<Data>;
}

/** Configures one request to the registry. */
export interface SendOptions {
  /** Default: the time that a composition may take. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** A registry composes while a publish waits. */
const TIMEOUT_MS = 180_000;

/** Creates the client. `address` is the registry's URL, with or without the path `/graphql`. Throws a CommandError for an invalid one. */
export function createRegistryClient(address: string | undefined, token: string | undefined): RegistryClient {
  if (!address) throw usageError('The registry is not known. Set REGISTRY_URL, or pass --registry URL.');
  if (!token) throw usageError('The token is not known. Set REGISTRY_TOKEN to a token of the registry.');
  if (/[^\x21-\x7e]/u.test(token)) throw usageError('REGISTRY_TOKEN has characters that a token cannot have.');
  const url = toEndpoint(address);
  return {
    async send<Data>(query: string, variables: Readonly<Record<string, unknown>> = {}, options: SendOptions = {}) {
      const headers = { authorization: `Bearer ${token}`, 'apollographql-client-name': 'trestle-cli' };
      const { data, errors } = await sendGraphQL({ url, query, variables, headers, timeoutMs: TIMEOUT_MS, ...options });
      if (errors?.[0]) throw toError(errors[0]);
      if (typeof data !== 'object' || data === null)
        throw new CommandError(`${url.origin} does not answer as a registry does.`, EXIT.server, 'REGISTRY_ERROR');
      return data as Data;
    },
  };
}

/** Returns the URL of the GraphQL endpoint. Throws a CommandError unless it is a URL of http or https. */
function toEndpoint(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol)) throw usageError('REGISTRY_URL must be a URL of http or https.');
  if (url.pathname === '/') url.pathname = '/graphql';
  return url;
}

function toError({ message, extensions = {} }: GraphQLResultError): CommandError {
  const code = typeof extensions['code'] === 'string' ? extensions['code'] : 'REGISTRY_ERROR';
  const details = Array.isArray(extensions['details']) ? (extensions['details'] as { field?: unknown; message?: unknown }[]) : [];
  const lines = details.map(({ field, message: reason }) => `\n  ${String(field)} ${String(reason)}`);
  return new CommandError(`The registry refuses: ${message}${lines.join('')}`, EXIT.server, code);
}
