/** Reads a password: typed twice at a terminal, not shown, or the first line of standard input. */
import type { Readable, Writable } from 'node:stream';

/** Standard input; only a terminal has `setRawMode`. */
export type PasswordInput = Readable & { readonly isTTY?: boolean; setRawMode?: (isRaw: boolean) => unknown };

/** Longer than any password that is accepted. */
const MAX_BYTES = 4096;

/** Resolves with the password. Throws an Error when the two differ, when the input is too long, or when the user cancels (Ctrl-C, Ctrl-D). */
export async function readPassword(input: PasswordInput, output: Writable): Promise<string> {
  if (input.isTTY !== true) return readFirstLine(input);
  const password = await ask('Password: ', input, output);
  if ((await ask('Repeat password: ', input, output)) !== password) throw new Error('The passwords differ. Nothing was changed.');
  return password;
}

async function readFirstLine(input: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`The password on standard input exceeds the limit of ${String(MAX_BYTES)} bytes.`);
    if (chunk.includes('\n')) break;
  }
  const [line = ''] = Buffer.concat(chunks).toString('utf8').split(/\r?\n/);
  return line;
}

/** The characters that terminals send for keys. */
const [ENTER, NEWLINE, BACKSPACE, DELETE, CTRL_C, CTRL_D] = ['\r', '\n', '\b', '\x7f', '\x03', '\x04'];

async function ask(question: string, input: PasswordInput, output: Writable): Promise<string> {
  output.write(question);
  // In this mode the terminal does not echo.
  input.setRawMode?.(true);
  let typed: string[] = [];
  try {
    return await new Promise((resolve, reject) => {
      const finish = (end: () => void) => {
        input.off('data', take);
        input.off('end', cancel);
        input.pause();
        end();
      };
      const cancel = () => {
        finish(() => {
          reject(new Error('No password was entered. Nothing was changed.'));
        });
      };
      const take = (chunk: Buffer) => {
        for (const key of chunk.toString('utf8')) {
          if (key === CTRL_C || key === CTRL_D) {
            cancel();
            return;
          }
          if (key === ENTER || key === NEWLINE) {
            finish(() => {
              resolve(typed.join(''));
            });
            return;
          }
          typed = key === BACKSPACE || key === DELETE ? typed.slice(0, -1) : [...typed.slice(0, MAX_BYTES), key];
        }
      };
      input.on('data', take);
      input.once('end', cancel);
      input.resume();
    });
  } finally {
    input.setRawMode?.(false);
    output.write('\n');
  }
}
