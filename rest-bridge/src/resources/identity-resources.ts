/** REST resources of credentials: sessions, API keys, second factors, OAuth authorizations, and the audit trail. */
import { type Resource, accountReference, foreign, lowerCase, plain } from './resource.ts';

/** API keys, without their secrets. */
export const API_KEY: Resource = {
  type: 'ApiKey',
  fields: {
    ...plain('id', 'name', 'lastFour', 'scopes', 'isAllowedInUrl', 'expiresAt'),
    // A use does not change `updatedAt`.
    ...foreign('lastUsedAt'),
    successorId: { select: 'successorId' },
    user: accountReference('user'),
    ...plain('createdAt', 'updatedAt', 'version'),
  },
  defaultFields: [
    ...['id', 'name', 'lastFour', 'scopes', 'isAllowedInUrl', 'expiresAt', 'lastUsedAt', 'successorId', 'user', 'createdAt', 'updatedAt'],
  ],
  include: {},
  isVersioned: true,
};

/** Sessions of an account. */
export const SESSION: Resource = {
  type: 'Session',
  fields: plain('id', 'device', 'address', 'createdAt', 'lastUsedAt', 'expiresAt', 'isCurrent'),
  defaultFields: ['id', 'device', 'address', 'createdAt', 'lastUsedAt', 'expiresAt', 'isCurrent'],
  include: {},
  isVersioned: false,
};

/** The second factor of the caller. */
export const SECOND_FACTOR: Resource = {
  type: 'SecondFactor',
  fields: {
    ...plain('isEnabled', 'hasTotp', 'recoveryCodesLeft'),
    passkeys: {
      select: 'passkeys { id name createdAt lastUsedAt }',
      schema: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            id: { type: 'string' },
            name: { type: 'string' },
            createdAt: { type: 'string', format: 'date-time' },
            lastUsedAt: { type: ['string', 'null'], format: 'date-time' },
          },
          required: ['id', 'name', 'createdAt', 'lastUsedAt'],
        },
      },
    },
  },
  defaultFields: ['isEnabled', 'hasTotp', 'recoveryCodesLeft', 'passkeys'],
  include: {},
  isVersioned: false,
};

/** Access that an account has given to OAuth clients. */
export const AUTHORIZATION: Resource = {
  type: 'Authorization',
  fields: plain('id', 'clientId', 'clientName', 'scopes', 'createdAt', 'lastUsedAt', 'expiresAt'),
  defaultFields: ['id', 'clientId', 'clientName', 'scopes', 'createdAt', 'lastUsedAt', 'expiresAt'],
  include: {},
  isVersioned: false,
};

/** Entries of the audit trail. */
export const SECURITY_EVENT: Resource = {
  type: 'SecurityEvent',
  fields: {
    id: { select: 'id' },
    type: lowerCase('type'),
    ...plain('userId', 'actorId', 'subject', 'detail', 'address', 'device', 'createdAt'),
  },
  defaultFields: ['id', 'type', 'userId', 'actorId', 'subject', 'detail', 'address', 'device', 'createdAt'],
  include: {},
  isVersioned: false,
};
