/** What a session and the audit trail keep of the client that sent a request. No I/O. */
import type { HttpExchange } from '@trestle/chassis/request/http-exchange';
import { toDevice } from './device.ts';
import type { SessionClient } from './store.ts';

/** Returns the client of a request: its device, its truncated address, and the pseudonym of its network. */
export function toSessionClient({ http }: { readonly http?: Pick<HttpExchange, 'userAgent' | 'client'> | undefined }): SessionClient {
  return { device: toDevice(http?.userAgent), address: http?.client?.address ?? null, network: http?.client?.id ?? null };
}
