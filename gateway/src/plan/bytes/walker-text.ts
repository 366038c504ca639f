/** The text of a walker: statements, and the fixed bytes between them, which are compared in as few steps as possible. */

const WORD_BYTES = 4;

export class WalkerText {
  #code = '';
  #expected = '';

  /** Adds bytes that must come next. They are checked before the next statement. */
  expect(text: string): void {
    this.#expected += text;
  }

  /** Adds statements. */
  add(statements: string): void {
    if (statements === '') return;
    this.flush();
    this.#code += statements;
  }

  /** Returns the code. */
  finish(): string {
    this.flush();
    return this.#code;
  }

  /** Checks the expected bytes here. */
  flush(): void {
    if (this.#expected === '') return;
    this.#code += `if(!(${matches(this.#expected)}))return 0;p+=${Buffer.byteLength(this.#expected)};`;
    this.#expected = '';
  }
}

/** Returns an expression that is true when the bytes of `text` are at `p`. */
export function matches(text: string): string {
  const bytes = Buffer.from(text);
  const tests: string[] = [];
  let i = 0;
  for (; i + WORD_BYTES <= bytes.length; i += WORD_BYTES) tests.push(`v.getInt32(p+${i},true)===${bytes.readInt32LE(i)}`);
  for (; i < bytes.length; i++) tests.push(`b[p+${i}]===${bytes[i] as number}`);
  return tests.join('&&');
}
