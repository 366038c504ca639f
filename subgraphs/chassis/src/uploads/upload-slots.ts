/** Limits how many requests with files a process receives at once, and how many of them are those of one account. No I/O. */
import { fail } from '@trestle/schema/errors';
import { toLimitFault } from '@trestle/schema/limit-fault';

const MAX_AT_ONCE = 64;
/** A browser opens at most six connections to a server; one account must not use up what all others need. */
const MAX_OF_ACCOUNT = 8;
const RETRY_AFTER_SECONDS = 1;

/** The requests with files that are being received. */
export interface UploadSlots {
  /**
   * Runs `receive` in a slot, which is free again when its promise is settled. Rejects with RATE_LIMIT_EXCEEDED when the account has 8 slots already,
   * with SERVICE_UNAVAILABLE when all 64 are taken, and with the errors of `receive`.
   */
  run<T>(accountId: string, receive: () => Promise<T>): Promise<T>;
}

/** Creates the slots of a process. */
export function createUploadSlots(): UploadSlots {
  const byAccount = new Map<string, number>();
  let taken = 0;
  return {
    async run(accountId, receive) {
      const own = byAccount.get(accountId) ?? 0;
      if (own >= MAX_OF_ACCOUNT)
        throw toLimitFault(`The account is sending ${String(MAX_OF_ACCOUNT)} files already, which is the limit.`, {
          limit: MAX_OF_ACCOUNT,
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        });
      if (taken >= MAX_AT_ONCE)
        throw fail('SERVICE_UNAVAILABLE', 'Too many files are being received. Retry after 1 second.', {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        });
      taken++;
      byAccount.set(accountId, own + 1);
      try {
        return await receive();
      } finally {
        taken--;
        const left = (byAccount.get(accountId) ?? 1) - 1;
        if (left > 0) byAccount.set(accountId, left);
        else byAccount.delete(accountId);
      }
    },
  };
}
