/** Routes of second factors (ADR 21). */
import { SECOND_FACTOR } from '../resources/identity-resources.ts';
import { getOne } from './route-kinds.ts';
import type { OperationRoute, Route } from './route.ts';

const base = '/auth/second-factor';
const spec = 'issue 13';

interface ActionOptions extends Pick<OperationRoute, 'path' | 'operation' | 'summary'> {
  readonly mutation: string;
  /** The GraphQL type that the mutation returns; none for 204. */
  readonly type?: string;
}

/** Returns a `POST` whose body is the arguments of a mutation. Secrets are not stored for a retry. */
function action({ mutation, type, ...options }: ActionOptions): OperationRoute {
  return {
    ...options,
    method: 'POST',
    resource: SECOND_FACTOR,
    needsCaller: true,
    isOfSession: true,
    idempotency: 'ignored',
    input: { kind: 'arguments', mutation },
    ...(type === undefined
      ? { success: { status: 204, content: 'none' }, toResponse: () => ({ status: 204 }) }
      : { success: { status: 200, content: 'object', type }, toResponse: (result) => ({ status: 200, body: result as object }) }),
    spec,
  };
}

/** The routes under `/auth/second-factor`. */
export const secondFactorRoutes: readonly Route[] = [
  getOne({
    path: base,
    operation: 'GetSecondFactor',
    resource: SECOND_FACTOR,
    summary: 'Returns which second factor the account of the caller has',
    needsCaller: true,
    spec,
  }),
  action({
    path: `${base}/totp`,
    operation: 'StartTotp',
    mutation: 'startTotp',
    type: 'TotpEnrolment',
    summary: 'Makes a secret for an authenticator app, which a first code must confirm',
  }),
  action({
    path: `${base}/totp/confirmation`,
    operation: 'ConfirmTotp',
    mutation: 'confirmTotp',
    type: 'RecoveryCodes',
    summary: 'Confirms an authenticator app by a first code, and shows recovery codes once',
  }),
  action({ path: `${base}/totp/removal`, operation: 'RemoveTotp', mutation: 'removeTotp', summary: 'Removes the authenticator app' }),
  action({
    path: `${base}/passkeys/options`,
    operation: 'StartPasskey',
    mutation: 'startPasskey',
    type: 'PasskeyCreation',
    summary: 'Returns the options with which a browser makes a passkey',
  }),
  action({
    path: `${base}/passkeys`,
    operation: 'AddPasskey',
    mutation: 'addPasskey',
    type: 'RecoveryCodes',
    summary: 'Adds a passkey that a browser has made, and shows recovery codes once',
  }),
  action({
    path: `${base}/passkeys/{id}/removal`,
    operation: 'RemovePasskey',
    mutation: 'removePasskey',
    summary: 'Removes a passkey',
  }),
  action({
    path: `${base}/recovery-codes`,
    operation: 'CreateRecoveryCodes',
    mutation: 'createRecoveryCodes',
    type: 'RecoveryCodes',
    summary: 'Replaces the recovery codes, and shows the new ones once',
  }),
];
