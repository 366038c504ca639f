/** What the command shows of texts that others have written. */
import { describe, expect, it } from '@jest/globals';
import { stripControl } from './terminal.ts';

describe('stripControl', () => {
  it('leaves no command of GitHub Actions in a string', () => {
    expect(stripControl('::stop-commands::x')).toBe('\ufffd:stop-commands::x');
    expect(stripControl('message\n  ::error::x\n##[add-mask]x')).toBe('message\n  \ufffd:error::x\n#\ufffd[add-mask]x');
    expect(stripControl('std::vector and ## a heading [link]')).toBe('std::vector and ## a heading [link]');
  });

  it('replaces control characters, and keeps line breaks and tabs', () => {
    expect(stripControl('a\u001b[31mb\r\u202ec\n\td')).toBe('a\ufffd[31mb\ufffd\ufffdc\n\td');
  });
});
