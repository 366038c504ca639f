/** A report of a gateway: which operations clients sent in a minute. Parses and bounds it; no I/O. */
import { createHash } from 'node:crypto';
import { checkString } from '@trestle/chassis/values/strings';
import { type FieldFault, fail } from '@trestle/schema/errors';

/** How many classes of durations there are: below 0.25 ms, and then up to twice as much each. */
export const DURATION_CLASSES = 18;

const MAX_ROWS = 2000;
const MAX_TEXT = 200_000;
const MAX_USES = 5000;
const MAX_USE = 400;
const MAX_NAME = 200;
const MAX_CLIENT = 100;
const MAX_COUNT = 1e9;
/** Older minutes are refused: the ids of their reports may be forgotten. */
const MAX_AGE_MS = 24 * 3_600_000;
/** Clocks differ. */
const MAX_AHEAD_MS = 5 * 60_000;
const MAX_FAULTS = 20;

/** An operation. A report omits the `text` that the registry has already. */
export interface ReportedOperation {
  readonly hash: string;
  readonly name: string | null;
  readonly text?: string | undefined;
  readonly uses?: readonly string[] | undefined;
}

/** One version of a client. Both are null when it did not name itself. */
export interface ReportedClient {
  readonly name: string | null;
  readonly version: string | null;
}

/** Requests of one operation by one client; `operation` and `client` are indexes. */
export interface ReportedRow {
  readonly operation: number;
  readonly client: number;
  readonly count: number;
  readonly errors: number;
  readonly durations: readonly number[];
}

/** A report that is valid. */
export interface UsageReport {
  readonly id: string;
  readonly minute: Date;
  readonly operations: readonly ReportedOperation[];
  readonly clients: readonly ReportedClient[];
  readonly rows: readonly ReportedRow[];
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const MINUTE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:00(?:\.000)?Z$/;
const HASH = /^[0-9a-f]{64}$/;
const NAME = /^[_A-Za-z]\w*$/;
const USE = /^(?:@\w+|<\w+\?|@?\w+(?:\.\w+)?(?:\(\w+:\))?)$/;
// eslint-disable-next-line no-control-regex -- these are what is refused
const CONTROL = /[\u0000-\u001f\u007f]/;

type Members = Readonly<Record<string, unknown>>;

/** Returns the report. Throws VALIDATION_ERROR with its first faults, also for members that are not known. */
export function parseUsageReport(body: unknown, now: number): UsageReport {
  const faults: FieldFault[] = [];
  const add = (field: string, message: string) => {
    if (faults.length < MAX_FAULTS) faults.push({ field, message });
  };
  const report = readMembers(body, ['id', 'minute', 'operations', 'clients', 'rows']);
  if (!report) add('body', 'must be an object with id, minute, operations, clients and rows');
  const { id, minute } = report ?? {};
  if (typeof id !== 'string' || !UUID.test(id)) add('id', 'must be a UUID in lower case');
  checkMinute(minute, now, add);
  const operations = readList(report?.['operations'], 'operations', add);
  const clients = readList(report?.['clients'], 'clients', add);
  const rows = readList(report?.['rows'], 'rows', add);
  if (rows.length === 0) add('rows', 'must have at least one item');
  checkEach(operations, 'operations', (each) => findOperationFault(each), add);
  checkEach(clients, 'clients', (each) => findClientFault(each), add);
  checkEach(rows, 'rows', (each) => findRowFault(each, { operations: operations.length, clients: clients.length }), add);
  checkUnique(operations, ['hash'], { field: 'operations', add });
  checkUnique(clients, ['name', 'version'], { field: 'clients', add });
  checkUnique(rows, ['operation', 'client'], { field: 'rows', add });
  const [first] = faults;
  if (first) throw fail('VALIDATION_ERROR', `The report is not valid: \`${first.field}\` ${first.message}.`, { details: faults });
  return { ...(report as unknown as UsageReport), minute: new Date(minute as string) };
}

type Add = (field: string, message: string) => void;

/** Returns the members of an object that has no others; undefined for anything else. */
function readMembers(value: unknown, names: readonly string[]): Members | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.keys(value).every((key) => names.includes(key)) ? (value as Members) : undefined;
}

function readList(value: unknown, field: string, add: Add): readonly unknown[] {
  if (Array.isArray(value) && value.length <= MAX_ROWS) return value;
  add(field, `must be a list of at most ${String(MAX_ROWS)} items`);
  return [];
}

function checkMinute(minute: unknown, now: number, add: Add): void {
  const at = typeof minute === 'string' && MINUTE.test(minute) ? Date.parse(minute) : NaN;
  if (Number.isNaN(at)) add('minute', 'must be the beginning of a minute in UTC, such as 2026-01-31T12:00:00Z');
  else if (at < now - MAX_AGE_MS || at > now + MAX_AHEAD_MS)
    add('minute', 'must not be older than 24 hours, nor more than 5 minutes ahead');
}

// eslint-disable-next-line size/max-params -- a list, its name, and what finds and takes its faults
function checkEach(items: readonly unknown[], field: string, find: (item: unknown) => string | undefined, add: Add): void {
  for (const [i, item] of items.entries()) {
    const fault = find(item);
    if (fault !== undefined) add(`${field}.${String(i)}`, fault);
  }
}

function checkUnique(
  items: readonly unknown[],
  keys: readonly string[],
  { field, add }: { readonly field: string; readonly add: Add },
): void {
  const found = new Set(items.map((item) => JSON.stringify(keys.map((key) => (item as Members | null)?.[key] ?? null))));
  if (found.size < items.length) add(field, `must not have two items with the same ${keys.join(' and ')}`);
}

function findOperationFault(value: unknown): string | undefined {
  const operation = readMembers(value, ['hash', 'name', 'text', 'uses']);
  if (!operation) return 'must be an object with hash, name, text and uses';
  const { hash, name, text, uses } = operation;
  if (typeof hash !== 'string' || !HASH.test(hash)) return 'must have a hash of 64 hexadecimal digits';
  if (name !== null && (typeof name !== 'string' || name.length > MAX_NAME || !NAME.test(name)))
    return 'must have a name of GraphQL, or null';
  if (text === undefined && uses === undefined) return undefined;
  if (typeof text !== 'string' || checkString(text, { field: 'text', min: 1, max: MAX_TEXT }).length > 0)
    return `must have \`text\` with at most ${String(MAX_TEXT)} characters`;
  if (createHash('sha256').update(text).digest('hex') !== hash) return 'must have the SHA-256 of its `text` as `hash`';
  const areUses = Array.isArray(uses) && uses.length <= MAX_USES && uses.every(isUse);
  return areUses ? undefined : `must have at most ${String(MAX_USES)} uses, each a coordinate`;
}

function isUse(use: unknown): boolean {
  return typeof use === 'string' && use.length <= MAX_USE && USE.test(use);
}

function findClientFault(value: unknown): string | undefined {
  const client = readMembers(value, ['name', 'version']);
  if (!client) return 'must be an object with name and version';
  return [client['name'], client['version']].every(isClientText)
    ? undefined
    : `must have a name and a version of 1 to ${String(MAX_CLIENT)} characters, or null`;
}

function isClientText(text: unknown): boolean {
  return (
    text === null ||
    (typeof text === 'string' && text.length >= 1 && text.length <= MAX_CLIENT && !CONTROL.test(text) && text.isWellFormed())
  );
}

function findRowFault(
  value: unknown,
  { operations, clients }: { readonly operations: number; readonly clients: number },
): string | undefined {
  const row = readMembers(value, ['operation', 'client', 'count', 'errors', 'durations']);
  if (!row) return 'must be an object with operation, client, count, errors and durations';
  const { operation, client, count, errors, durations } = row;
  if (!isWhole(operation, operations - 1) || !isWhole(client, clients - 1)) return 'must have the indexes of an operation and a client';
  if (!isWhole(count, MAX_COUNT) || count === 0) return `must have a count of 1 to ${String(MAX_COUNT)}`;
  if (!isWhole(errors, count)) return 'must not have more errors than requests';
  const areDurations = Array.isArray(durations) && durations.length === DURATION_CLASSES && durations.every((each) => isWhole(each, count));
  const sum = areDurations ? durations.reduce((total, each) => total + each, 0) : NaN;
  return sum === count ? undefined : `must have ${String(DURATION_CLASSES)} durations that add up to its count`;
}

function isWhole(value: unknown, max: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= max;
}
