/** Which changes of an account the audit trail records. Pure: no database, no clock. */
import type { Caller } from '@trestle/identity';
import type { ClientDescription, NewSecurityEvent } from '../security/security-events.ts';
import type { User, UserChange } from './rules.ts';

/** Returns whether a change has fields that rules and audit trail compare with the account, even if it leaves them as they are. */
export function isCompared(change: UserChange): boolean {
  return RECORDED.some((field) => change[field] !== undefined);
}

/** Returns whether a change may be one that the audit trail records. */
export function isSecurityChange(user: User, change: UserChange): boolean {
  return RECORDED.some((field) => change[field] !== undefined && change[field] !== user[field]);
}

const RECORDED = ['email', 'role', 'isActive', 'plan', 'requestsPerMinute'] as const;

/** Who changed an account, and from which client. */
export interface ChangeSource {
  /** Null for a command that an operator runs. */
  readonly caller: Pick<Caller, 'userId'> | null;
  readonly client: ClientDescription;
}

/** Returns the event of an account that an administrator or an operator created, not its owner. */
export function toCreationEvent({ id, role }: Pick<User, 'id' | 'role'>, { caller, client }: ChangeSource): NewSecurityEvent {
  return { type: 'ACCOUNT_CREATED', userId: id, actorId: caller?.userId, detail: role, client };
}

/** Returns the events of a change of an account. */
export function toSecurityEvents(before: User, after: User, { caller, client }: ChangeSource): NewSecurityEvent[] {
  const common = { userId: after.id, client, actorId: caller?.userId === after.id ? null : caller?.userId };
  const changes = [
    before.email === after.email ? undefined : { type: 'EMAIL_CHANGED' as const },
    toChange('ROLE_CHANGED', before.role, after.role),
    toChange('ACTIVITY_CHANGED', toActivity(before), toActivity(after)),
    toChange('PLAN_CHANGED', toPlan(before), toPlan(after)),
  ];
  return changes.flatMap((change) => (change ? [{ ...common, ...change }] : []));
}

function toChange(type: NewSecurityEvent['type'], before: string, after: string): Pick<NewSecurityEvent, 'type' | 'detail'> | undefined {
  return before === after ? undefined : { type, detail: `${before} to ${after}` };
}

function toActivity({ isActive }: User): string {
  return isActive ? 'active' : 'inactive';
}

function toPlan({ plan, requestsPerMinute }: User): string {
  return requestsPerMinute === null ? plan : `${plan} (${String(requestsPerMinute)} per minute)`;
}
