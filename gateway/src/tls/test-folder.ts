/** For tests: a folder of certificates. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder with files. */
export class Folder {
  readonly path = mkdtempSync(join(tmpdir(), 'trestle-tls-'));

  /** Writes a file, and returns its path. */
  write(name: string, text: string): string {
    const file = join(this.path, name);
    writeFileSync(file, text);
    return file;
  }

  remove(): void {
    rmSync(this.path, { recursive: true });
  }
}
