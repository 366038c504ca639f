/** The storage of oidc-provider: records and clients in PostgreSQL; access tokens are not stored, because they are JWTs. */
import { type Adapter, type AdapterFactory, type AdapterPayload, type KoaContextWithOIDC, Provider, errors } from 'oidc-provider';
import type { AccessTokens } from './access-tokens.ts';
import type { ClientDescription } from '../security/security-events.ts';
import type { ClientStore, OAuthClient } from './client-store.ts';
import { DEVICE_CODE_GRANT } from './grant-types.ts';
import { type RecordStore, isHandle } from './record-store.ts';

/** Seconds between two polls of a device (RFC 8628 §3.2). */
export const POLL_INTERVAL_SECONDS = 5;

/** What the adapters work with. */
export interface AdapterOptions {
  readonly records: RecordStore;
  readonly clients: ClientStore;
  readonly accessTokens: AccessTokens;
  /** Ends a grant with its tokens. `detail` is for the audit trail. */
  readonly endGrant: (grantId: string, detail: string) => Promise<void>;
  /** Describes the client of the request that is handled, for the audit trail. */
  readonly describeClient: () => ClientDescription;
  /** Counts what requests without any credential store. Returns false when too much was stored lately. */
  readonly takeAnonymousRecord: () => boolean;
}

/** Why a grant ends, for the audit trail. */
const BY_CLIENT = 'by the client';
const REPLAYED = 'a code or refresh token was used twice';
/** What anybody can have stored, for ten minutes each. */
const ANONYMOUS_KINDS = new Set(['Interaction', 'DeviceCode', 'Session']);
const nothing = () => Promise.resolve(undefined);
const EMPTY: Adapter = {
  upsert: nothing,
  find: nothing,
  findByUserCode: nothing,
  findByUid: nothing,
  consume: nothing,
  destroy: nothing,
  revokeByGrantId: nothing,
};

/** Creates the adapter of each model. */
export function createAdapterFactory(options: AdapterOptions): AdapterFactory {
  return (kind) => {
    if (kind === 'Client') return { ...EMPTY, find: async (id) => toMetadata(await findClient(options, id)) };
    if (kind === 'AccessToken' || kind === 'ClientCredentials') return createTokenAdapter(kind, options.accessTokens);
    return createRecordAdapter(kind, options);
  };
}

function createTokenAdapter(kind: 'AccessToken' | 'ClientCredentials', tokens: AccessTokens): Adapter {
  return { ...EMPTY, find: (token) => tokens.find(kind, token), destroy: (token) => tokens.revoke(token) };
}

function createRecordAdapter(kind: string, { records, endGrant, takeAnonymousRecord, describeClient }: AdapterOptions): Adapter {
  return {
    async upsert(key, payload, expiresInSeconds = 0) {
      const isAnonymous = payload.accountId === undefined && ANONYMOUS_KINDS.has(kind);
      if (isAnonymous && !takeAnonymousRecord()) throw new errors.TemporarilyUnavailable('too many requests at once');
      const write =
        kind === 'Grant'
          ? records.saveGrant({ key, payload, expiresInSeconds }, describeClient())
          : records.upsert({ kind, key, payload, expiresInSeconds });
      const isWritten = await write.catch(refuseParameters);
      if (!isWritten) refuseRecord(kind);
    },
    async find(key) {
      const isOfClient = currentRoute() === 'token';
      if (isHandle(key) && (kind !== 'DeviceCode' || isOfClient)) return undefined;
      const found = await records.find({ kind, key });
      if (found && kind === 'DeviceCode' && isOfClient) await requirePatience(records, key, found);
      return found;
    },
    findByUserCode: (userCode) => records.findByLookup(kind, userCode),
    findByUid: (uid) => records.findByLookup(kind, uid),
    async consume(key) {
      if (await records.consume({ kind, key })) return;
      // Another request has used it: one of the two is not the client's (RFC 6749 §10.5, RFC 9700 §4.14).
      const found = await records.find({ kind, key });
      if (found?.grantId !== undefined) await endGrant(found.grantId, REPLAYED);
      throw new errors.InvalidGrant('the code or token was used already');
    },
    destroy: (key) =>
      kind === 'Grant' ? endGrant(key, currentRoute() === 'revocation' ? BY_CLIENT : REPLAYED) : records.remove({ kind, key }),
    revokeByGrantId: (grantId) => records.removeOfGrant(kind, grantId),
  };
}

/**
 * Throws the error of a record that was not written, because its account was changed during the request. A session that is not written is
 * over: the library writes it last, and the browser is asked to log in the next time.
 */
function refuseRecord(kind: string): void {
  if (kind === 'Session') return;
  if (currentRoute() === 'token') throw new errors.InvalidGrant('the account was changed');
  throw new errors.SessionNotFound('the account was changed');
}

/** Throws `slow_down` when the device polls faster than every {@link POLL_INTERVAL_SECONDS} (RFC 8628 §3.5); the library never does. */
async function requirePatience(records: RecordStore, key: string, { accountId, error, clientId }: AdapterPayload): Promise<void> {
  const isPending = accountId === undefined && error === undefined;
  if (!isPending || clientId !== currentClientId()) return;
  // A second of tolerance for clients whose timer fires early, or whose requests take different ways.
  if (await records.poll({ kind: 'DeviceCode', key }, POLL_INTERVAL_SECONDS - 1)) return;
  throw new errors.SlowDown(`poll at most every ${String(POLL_INTERVAL_SECONDS)} seconds`);
}

/** Finds a client. PostgreSQL stores no U+0000, so that none has it in its id. */
function findClient({ clients }: AdapterOptions, id: string): Promise<OAuthClient | undefined> {
  return id.includes('\0') ? Promise.resolve(undefined) : clients.find(id);
}

/** The errors of PostgreSQL for a record that is too large (check_violation), or has U+0000 (untranslatable_character). */
const NOT_STORED: ReadonlySet<unknown> = new Set(['23514', '22P05']);

/** Throws the error of a record that was not written. Its size and characters are those of the request's parameters. */
function refuseParameters(error: unknown): never {
  const isOfParameters = NOT_STORED.has((error as { readonly code?: unknown } | null)?.code);
  throw isOfParameters ? new errors.InvalidRequest('a parameter is too long, or contains U+0000') : error;
}

function toMetadata(client: OAuthClient | undefined): AdapterPayload | undefined {
  if (!client) return undefined;
  const { id, name, secretHash, redirectUris, grantTypes, scopes } = client;
  return {
    client_id: id,
    client_name: name,
    ...(secretHash ? { client_secret: secretHash.toString('hex') } : { token_endpoint_auth_method: 'none' }),
    redirect_uris: [...redirectUris],
    response_types: grantTypes.includes('authorization_code') ? ['code'] : [],
    grant_types: [...grantTypes],
    scope: scopes.join(' '),
    application_type: redirectUris.some(isOfNativeApplication) || grantTypes.includes(DEVICE_CODE_GRANT) ? 'native' : 'web',
  };
}

/** A native application is called back by a scheme of its own, or on loopback with any port (RFC 8252 §7). */
function isOfNativeApplication(uri: string): boolean {
  return !uri.startsWith('https:');
}

function currentContext(): KoaContextWithOIDC | undefined {
  return Provider.ctx;
}

function currentRoute(): string | undefined {
  return currentContext()?.oidc.route;
}

function currentClientId(): string | undefined {
  return currentContext()?.oidc.client?.clientId;
}
