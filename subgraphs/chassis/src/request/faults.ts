/** The refusals that stores and lookups have in common, in the same words for every resource. No I/O. */
import { type Fault, fail } from '@trestle/schema/errors';

/** Versions that a write accepts: undefined and null accept any version, an empty list accepts none. */
export type ExpectedVersions = readonly number[] | null | undefined;

/** Returns NOT_FOUND for a resource that does not exist, or that the caller may not know of (contract §3). */
export function notFound(noun: string, id: string | number): Fault {
  return fail('NOT_FOUND', `${toName(noun, id)} does not exist.`);
}

/** Returns GONE for a resource that was deleted (contract §2). */
export function gone(noun: string, id: string | number): Fault {
  return fail('GONE', `${toName(noun, id)} was deleted.`);
}

/** Returns PRECONDITION_FAILED for a resource whose version a write does not accept. */
export function versionMismatch(noun: string, { id, version }: { readonly id: string | number; readonly version: number }): Fault {
  return fail('PRECONDITION_FAILED', `${toName(noun, id)} has version ${String(version)}, which is not an expected version.`);
}

/** Throws PRECONDITION_FAILED unless the resource has one of the expected versions. */
export function checkVersion(
  noun: string,
  resource: { readonly id: string | number; readonly version: number },
  expectedVersions: ExpectedVersions,
): void {
  if (expectedVersions && !expectedVersions.includes(resource.version)) throw versionMismatch(noun, resource);
}

function toName(noun: string, id: string | number): string {
  return `${noun.charAt(0).toUpperCase()}${noun.slice(1)} ${String(id)}`;
}
