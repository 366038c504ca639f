/** What a session and the audit trail keep of the client that sent a request. No I/O. */
import type { RequestContext } from '@trestle/chassis/request/context';
import { toDevice } from './device.ts';
import type { SessionClient } from './store.ts';

/** Returns the client of a request: its device, its truncated address, and the pseudonym of its network. */
export function toSessionClient({ http }: Pick<RequestContext, 'http'>): SessionClient {
  return { device: toDevice(http?.userAgent), address: http?.client?.address ?? null, network: http?.client?.id ?? null };
}
