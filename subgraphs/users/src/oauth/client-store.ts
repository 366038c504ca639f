/** The registered OAuth clients in PostgreSQL (RFC 6749 §2). Only the SHA-256 of a secret is stored: secrets are 256 random bits. */
import { createHash, randomBytes } from 'node:crypto';
import type { Query } from '@trestle/chassis/database/query';

/** A registered client. */
export interface OAuthClient {
  readonly id: string;
  /** The account that registered the client, and for which its tokens of client credentials act. */
  readonly ownerId: string;
  readonly name: string;
  /** Null for a public client, such as an application in a browser. */
  readonly secretHash: Buffer | null;
  readonly redirectUris: readonly string[];
  readonly grantTypes: readonly string[];
  readonly scopes: readonly string[];
}

/** Keeps the clients. */
export interface ClientStore {
  find(id: string): Promise<OAuthClient | undefined>;
  /** Inserts a client in one statement. Resolves with false when no account has the owner's e-mail address. */
  register(client: Omit<OAuthClient, 'ownerId'> & { readonly ownerEmail: string }): Promise<boolean>;
}

/** Creates the store. */
export function createClientStore(query: Query): ClientStore {
  return {
    async find(id) {
      const [client] = await query<OAuthClient>(
        `SELECT "id", "ownerId", "name", "secretHash", "redirectUris", "grantTypes", "scopes" FROM "oauth_clients" WHERE "id" = $1`,
        [id],
      );
      return client;
    },
    async register({ id, name, secretHash, redirectUris, grantTypes, scopes, ownerEmail }) {
      const registered = await query(
        `INSERT INTO "oauth_clients" ("id", "ownerId", "name", "secretHash", "redirectUris", "grantTypes", "scopes")
         SELECT $1, "id", $2, $3, $4, $5, $6 FROM "users" WHERE lower("email") = lower($7) RETURNING "id"`,
        [id, name, secretHash, redirectUris, grantTypes, scopes, ownerEmail],
      );
      return registered.length > 0;
    },
  };
}

/** Returns a new secret of 256 random bits. Scanners recognise leaked ones by the prefix. */
export function generateClientSecret(): string {
  return `trestle_secret_${randomBytes(32).toString('base64url')}`;
}

/** Returns what is stored of a secret. */
export function hashClientSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
