/**
 * Repairs `JSON.parse` where V8 misreads some keys (nodejs/node#63785, Node.js 24 to 26): once an object had a key that ends in a backslash, V8 gives
 * that key to similar objects whose own key ends in an escape, so that one client could change what another one's JSON says.
 */
import { randomUUID } from 'node:crypto';

/** An escape before a quote and a colon: the end of such a key, or of a string that quotes one. */
const ESCAPE_AT_END = /\\(?:u[\da-fA-F]{4}|["\\/bfnrt])"\s*:/;
/** Follows a key. */
const COLON = /\s*:/y;

type Parse = typeof JSON.parse;
type Members = Record<string, unknown>;

/** Replaces `JSON.parse` of this process if it has the fault. */
export function repairJsonParse(): void {
  JSON.parse('{"a":0,"\\\\":0}');
  const hasFault = !Object.hasOwn(JSON.parse('{"a":0,"\\n":0}') as object, '\n');
  if (hasFault) JSON.parse = createParse(JSON.parse);
}

/** Returns a function as `JSON.parse`, which reads keys that end in an escape without the fault of `parse`; with a reviver it is as `parse`. */
export function createParse(parse: Parse): Parse {
  // No key ends in it by chance or by intent.
  const mark = randomUUID();
  return (text: unknown, reviver) => {
    const value = parse(text as string, reviver) as unknown;
    // JSON.parse also takes what becomes a string, such as a buffer.
    const json = String(text);
    if (reviver || !ESCAPE_AT_END.test(json)) return value;
    return removeMark(parse(addMark(json, mark)), mark);
  };
}

/** Adds the mark to the end of all keys of valid JSON. A regular expression for strings would overflow its stack in one of millions of characters. */
function addMark(json: string, mark: string): string {
  let marked = '';
  let copied = 0;
  for (let start = json.indexOf('"'); start >= 0; start = json.indexOf('"', start + 1)) {
    start = findEnd(json, start);
    COLON.lastIndex = start + 1;
    if (!COLON.test(json)) continue;
    marked += json.slice(copied, start) + mark;
    copied = start;
  }
  return marked + json.slice(copied);
}

/** Returns where the quotation mark is that ends a string: it has an even number of backslashes before it. */
function findEnd(json: string, start: number): number {
  let end = start;
  let isEscaped = true;
  while (isEscaped) {
    end = json.indexOf('"', end + 1);
    let before = end;
    while (json[before - 1] === '\\') before--;
    isEscaped = (end - before) % 2 === 1;
  }
  return end;
}

/** Removes it from all keys. Does not recurse, because the nesting is not limited. */
function removeMark(value: unknown, mark: string): unknown {
  const root: Members = { value };
  const waiting: Members[] = [root];
  for (let members = waiting.pop(); members; members = waiting.pop())
    for (const [key, each] of Object.entries(members)) {
      if (typeof each !== 'object' || each === null) continue;
      const own = (Array.isArray(each) ? each : withoutMark(each as Members, mark)) as Members;
      members[key] = own;
      waiting.push(own);
    }
  return root['value'];
}

function withoutMark(members: Members, mark: string): Members {
  const own: Members = {};
  for (const [key, value] of Object.entries(members))
    // `__proto__` is a key as any other.
    Object.defineProperty(own, key.slice(0, -mark.length), { value, configurable: true, enumerable: true, writable: true });
  return own;
}
