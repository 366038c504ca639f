/** What a coprocessor answers with, checked member by member. No I/O. */
import { isDeepStrictEqual } from 'node:util';

type Members = Readonly<Record<string, unknown>>;

/** An answer. Headers and labels are checked where they are set. */
export interface CoprocessorAnswer {
  readonly refuse?: { readonly code: string; readonly message: string } | undefined;
  readonly context?: object | undefined;
  readonly responseHeaders?: Members | undefined;
  readonly subgraphHeaders?: Members | undefined;
  readonly overrideLabels?: unknown;
}

const MEMBERS = ['context', 'subgraphHeaders', 'overrideLabels', 'responseHeaders', 'refuse'];
const REFUSAL_MEMBERS = ['code', 'message'];
/** How much of a name is repeated in a message. */
const MAX_SHOWN_NAME = 64;

/**
 * Checks an answer to a call. A member that does not exist is an error rather than ignored: a check whose `refuse` is misspelt must not let requests
 * pass. What the call itself contains may be sent back, as long as it is the same. Throws a TypeError that names the member.
 */
export function readAnswer(answer: Members, readCall: () => Members): CoprocessorAnswer {
  const others = Object.keys(answer).filter((name) => !MEMBERS.includes(name));
  if (others.length > 0) requireUnchanged(others, answer, readCall());
  const { context, responseHeaders, subgraphHeaders, overrideLabels, refuse } = answer;
  return {
    context: readObject('context', context),
    responseHeaders: readObject('responseHeaders', responseHeaders),
    subgraphHeaders: readObject('subgraphHeaders', subgraphHeaders),
    overrideLabels,
    refuse: readRefusal(readObject('refuse', refuse)),
  };
}

function requireUnchanged(names: readonly string[], answer: Members, call: Members): void {
  for (const name of names) {
    if (!Object.hasOwn(call, name)) throw unknownMember(name, '', MEMBERS);
    if (!isDeepStrictEqual(answer[name], call[name]))
      throw new TypeError(`The coprocessor changed \`${name}\`, which a coprocessor cannot change`);
  }
}

function readRefusal(refusal: Members | undefined): CoprocessorAnswer['refuse'] {
  if (!refusal) return undefined;
  for (const name of Object.keys(refusal)) if (!REFUSAL_MEMBERS.includes(name)) throw unknownMember(name, ' in `refuse`', REFUSAL_MEMBERS);
  const { code, message = 'The request was refused.' } = refusal;
  if (typeof code !== 'string' || typeof message !== 'string')
    throw new TypeError('The coprocessor sent `refuse` whose `code` or `message` is not a string');
  return { code, message };
}

function readObject(name: string, value: unknown): Members | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'object' || Array.isArray(value)) throw new TypeError(`The coprocessor sent \`${name}\` that is not an object`);
  return value as Members;
}

function unknownMember(name: string, place: string, known: readonly string[]): TypeError {
  const shown = JSON.stringify(name.slice(0, MAX_SHOWN_NAME));
  return new TypeError(`The coprocessor sent the unknown member ${shown}${place}; known are ${known.join(', ')}`);
}
