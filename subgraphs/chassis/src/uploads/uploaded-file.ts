/** A file that was received with a request: the value of the scalar `Upload`. It is stored already, and no row names it yet. */
import { fail } from '@trestle/schema/errors';

/** What is known of a received file. */
export interface ReceivedFile {
  readonly key: string;
  /** In bytes. */
  readonly size: number;
  /** In hexadecimal digits. */
  readonly sha256: string;
  /** The first bytes of the content, 4 KiB at most, by which its type is recognized. */
  readonly head: Buffer;
}

/** The file is deleted after its request unless a mutation keeps it. */
export class UploadedFile implements ReceivedFile {
  readonly key: string;
  readonly size: number;
  readonly sha256: string;
  readonly head: Buffer;
  #state: 'received' | 'kept' | 'discarded' = 'received';

  constructor({ key, size, sha256, head }: ReceivedFile) {
    this.key = key;
    this.size = size;
    this.sha256 = sha256;
    this.head = head;
  }

  /**
   * Declares that a row which names the file is being written, and returns its key. From then on the file is deleted only when no row names it
   * (`@trestle/files/sweep-files`), because a write whose result is unknown may have been committed. Throws REQUEST_TIMEOUT when the client
   * disconnected before: the file is gone then.
   */
  keep(): string {
    if (this.#state === 'discarded') throw fail('REQUEST_TIMEOUT', 'The client disconnected. Nothing was changed.');
    this.#state = 'kept';
    return this.key;
  }

  /** Returns whether the file may be deleted now; it cannot be kept afterwards. */
  discard(): boolean {
    if (this.#state !== 'received') return false;
    this.#state = 'discarded';
    return true;
  }

  /** A repetition of an idempotent request has the same content under another key. */
  toJSON(): { readonly size: number; readonly sha256: string } {
    return { size: this.size, sha256: this.sha256 };
  }
}
