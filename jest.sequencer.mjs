/**
 * Orders the test files: the slow kinds first, so that all workers end at about the same time, and files that lease a running system one after
 * another, so that few are started (CONTRIBUTING.md). Within a kind the longest file comes first.
 */
import { readFileSync } from 'node:fs';
import TestSequencer from '@jest/test-sequencer';

/** The kinds of files, in their order, by what the text of a file contains. Other files come last. */
const KINDS = [
  // Longer than any other file: as the last one it would leave the other workers with nothing to do.
  /from '\.\/fuzz\.ts'/,
  /start(?:Stack|OAuthSystem|Supervisor)\(/,
  // With settings of its own, which few files share.
  /leaseStack\(\{|useWebhooks\(/,
  /lease(?:Stack|OAuthSystem|ConformanceSystem)\(/,
  /e2e\/stack|\.\/stack\//,
];

export default class extends TestSequencer {
  sort(tests) {
    const ranked = [...tests].map((test) => {
      const text = readFileSync(test.path, 'utf8');
      const kind = KINDS.findIndex((each) => each.test(text));
      return { test, kind: kind < 0 ? KINDS.length : kind, size: text.length };
    });
    return ranked.sort((a, b) => a.kind - b.kind || b.size - a.size).map(({ test }) => test);
  }
}
