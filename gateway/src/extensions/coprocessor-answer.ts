/** What a coprocessor answers with, checked member by member. No I/O. */
import { isDeepStrictEqual } from 'node:util';
import type { CoprocessorStage } from './coprocessor-settings.ts';
import { OPERATION_MEMBERS } from './operation-events.ts';

type Members = Readonly<Record<string, unknown>>;

/** An answer. Headers and labels are checked where they are set. */
export interface CoprocessorAnswer {
  readonly refuse?: { readonly code: string; readonly message: string } | undefined;
  readonly context?: object | undefined;
  readonly responseHeaders?: Members | undefined;
  readonly subgraphHeaders?: Members | undefined;
  readonly overrideLabels?: unknown;
  /** Members of the call that have another value in the answer; they are checked where they are set. */
  readonly replaced?: Members | undefined;
}

const MEMBERS = ['context', 'subgraphHeaders', 'overrideLabels', 'responseHeaders', 'refuse'];
/** Members of the call that an answer may replace, by the stage. */
const REPLACEABLE: Partial<Record<CoprocessorStage, readonly string[]>> = {
  onOperation: OPERATION_MEMBERS,
  onResponse: ['body'],
};
const REFUSAL_MEMBERS = ['code', 'message'];
/** How much of a name is repeated in a message. */
const MAX_SHOWN_NAME = 64;

/** Returns whether answers at this stage may replace members of the call, which can be large. */
export function mayReplace(stage: CoprocessorStage): boolean {
  return REPLACEABLE[stage] !== undefined;
}

/**
 * Checks an answer to a call. A member that does not exist is an error rather than ignored: a check whose `refuse` is misspelt must not let requests
 * pass. What the call itself contains may be sent back; it must be the same, except for what the stage lets a coprocessor replace. Throws a TypeError
 * that names the member.
 */
export function readAnswer(answer: Members, stage: CoprocessorStage, readCall: () => Members): CoprocessorAnswer {
  const others = Object.keys(answer).filter((name) => !MEMBERS.includes(name));
  const { context, responseHeaders, subgraphHeaders, overrideLabels, refuse } = answer;
  return {
    replaced: others.length === 0 ? undefined : readReplaced(others, { answer, call: readCall(), replaceable: REPLACEABLE[stage] ?? [] }),
    context: readObject('context', context),
    responseHeaders: readObject('responseHeaders', responseHeaders),
    subgraphHeaders: readObject('subgraphHeaders', subgraphHeaders),
    overrideLabels,
    refuse: readRefusal(readObject('refuse', refuse)),
  };
}

interface Exchanged {
  readonly answer: Members;
  readonly call: Members;
  readonly replaceable: readonly string[];
}

/** Returns those of the members whose values differ from the call's; undefined when all are the same. */
function readReplaced(names: readonly string[], { answer, call, replaceable }: Exchanged): Members | undefined {
  const replaced = new Map<string, unknown>();
  for (const name of names) {
    const isReplaceable = replaceable.includes(name);
    if (!isReplaceable && !Object.hasOwn(call, name)) throw unknownMember(name, '', [...MEMBERS, ...replaceable]);
    if (isDeepStrictEqual(answer[name], call[name])) continue;
    if (!isReplaceable) throw new TypeError(`The coprocessor changed \`${name}\`, which a coprocessor cannot change at this stage`);
    replaced.set(name, answer[name]);
  }
  return replaced.size === 0 ? undefined : Object.fromEntries(replaced);
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
