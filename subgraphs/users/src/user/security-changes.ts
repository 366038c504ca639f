/** Which changes of an account the audit trail records. Pure: no database, no clock. */
import type { Caller } from '@trestle/identity';
import type { ClientDescription, NewSecurityEvent } from '../security/security-events.ts';
import type { User, UserChange } from './rules.ts';

/** Returns whether a change may be one that the audit trail records. */
export function isSecurityChange(user: User, { email = user.email, role = user.role, isActive = user.isActive }: UserChange): boolean {
  return email !== user.email || role !== user.role || isActive !== user.isActive;
}

/** Who changed an account, and from which client. */
export interface ChangeSource {
  readonly caller: Caller;
  readonly client: ClientDescription;
}

/** Returns the events of a change of an account. */
export function toSecurityEvents(before: User, after: User, { caller, client }: ChangeSource): NewSecurityEvent[] {
  const common = { userId: after.id, client, ...(caller.userId !== after.id && { actorId: caller.userId }) };
  const activity = ({ isActive }: User) => (isActive ? 'active' : 'inactive');
  return [
    ...(before.email === after.email ? [] : [{ ...common, type: 'EMAIL_CHANGED' as const }]),
    ...(before.role === after.role ? [] : [{ ...common, type: 'ROLE_CHANGED' as const, detail: `${before.role} to ${after.role}` }]),
    ...(before.isActive === after.isActive
      ? []
      : [{ ...common, type: 'ACTIVITY_CHANGED' as const, detail: `${activity(before)} to ${activity(after)}` }]),
  ];
}
