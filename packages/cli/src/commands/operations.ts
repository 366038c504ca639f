/** `operations push|list|remove` and `check approve`. */
import { createHash } from 'node:crypto';
import type { GraphFault } from '@trestle/graph-checks/faults';
import type { Command } from '../command.ts';
import { CommandError, EXIT, usageError } from '../exit-codes.ts';
import { readText } from '../files.ts';
import { stripControl } from '../terminal.ts';
import { notFound, onePositional } from './subgraph-read.ts';

/** The registry takes so many documents at once. */
const BATCH = 100;

interface PushResult {
  added: number;
  unchanged: number;
  /** Those that are not valid for what the environment serves. */
  readonly invalid: { readonly hash: string; readonly name: string; readonly messages: readonly string[] }[];
}

/** A warning: the operation is registered, because a later release may have its fields. */
function toFault(name: string, messages: readonly string[]): GraphFault {
  const message = `The operation \`${name}\` is not valid for the current schema: ${messages.join(' ')}`;
  return { code: 'INVALID_OPERATION', message, severity: 'warning', subgraph: null, line: null, column: null };
}

/** Names the files of a batch in place of their numbers, and says how many were registered by the batches before. */
function explainRefusal(
  error: unknown,
  { files, registered }: { readonly files: readonly string[]; readonly registered: number },
): unknown {
  if (!(error instanceof CommandError)) return error;
  const named = error.message.replace(/\bdocuments\.(\d+)\b/gu, (field, index: string) => files[Number(index)] ?? field);
  const before = registered > 0 ? `\nThe first ${String(registered)} documents were registered before.` : '';
  return new CommandError(`${named}${before}`, error.exitCode, error.code);
}

/** The command `operations push`. */
export const operationsPush: Command = {
  words: 'operations push',
  usage: 'FILE… --client NAME',
  summary: 'Registers the operations of a client, which later checks validate.',
  options: { client: { type: 'string' } },
  async run(context) {
    const { positionals, reporter } = context;
    if (positionals.length === 0) throw usageError('Name at least one file with an operation.');
    const documents = await Promise.all(positionals.map(readText));
    const mutation =
      'mutation Push($input: PushOperationsInput!) { pushOperations(input: $input) { added unchanged invalid { hash name messages } } }';
    const total: PushResult = { added: 0, unchanged: 0, invalid: [] };
    for (let at = 0; at < documents.length; at += BATCH) {
      const input = { environment: context.environment(), client: context.required('client'), documents: documents.slice(at, at + BATCH) };
      const { pushOperations } = await context
        .registry()
        .send<{ pushOperations: PushResult }>(mutation, { input })
        .catch((error: unknown) => {
          throw explainRefusal(error, { files: positionals.slice(at), registered: at });
        });
      total.added += pushOperations.added;
      total.unchanged += pushOperations.unchanged;
      total.invalid.push(...pushOperations.invalid);
      reporter.progress(`${String(Math.min(at + BATCH, documents.length))} of ${String(documents.length)} documents`);
    }
    for (const { name, messages } of total.invalid) reporter.fault(toFault(name, messages), new Map());
    reporter.line(`${String(total.added)} operations added, ${String(total.unchanged)} known before.`);
    reporter.finish({ ...total });
    return EXIT.success;
  },
};

interface Operation {
  readonly id: string;
  readonly hash: string;
  readonly name: string;
  readonly client: string;
  readonly createdAt: string;
}

/** The command `operations list`. */
export const operationsList: Command = {
  words: 'operations list',
  usage: '',
  summary: 'Lists the operations that clients have registered.',
  options: {},
  takesNoArguments: true,
  async run(context) {
    const query = `query Operations($name: String!, $after: ID) {
      environment(name: $name) { operations(first: ${String(BATCH)}, after: $after) { id hash name client createdAt } } }`;
    const operations: Operation[] = [];
    for (let page: Operation[] | undefined; page === undefined || page.length === BATCH;) {
      const variables = { name: context.environment(), after: operations.at(-1)?.id ?? null };
      const { environment } = await context.registry().send<{ environment: { operations: Operation[] } | null }>(query, variables);
      if (!environment) throw notFound(`Environment "${variables.name}" has no release.`);
      page = environment.operations;
      operations.push(...page);
    }
    for (const { client, name, hash, createdAt } of operations)
      context.reporter.line(stripControl(`${client}  ${name}  ${hash}  ${createdAt}`));
    context.reporter.finish({ operations });
    return EXIT.success;
  },
};

const HASH = /^[0-9a-f]{64}$/;
/** The registry removes so many operations at once. */
const REMOVED_AT_ONCE = 1000;

interface RemoveResult {
  removed: number;
  readonly unknown: string[];
}

/** The command `operations remove`. */
export const operationsRemove: Command = {
  words: 'operations remove',
  usage: 'FILE|HASH… --client NAME',
  summary: 'Removes registered operations of a client, which later checks no longer validate.',
  options: { client: { type: 'string' } },
  async run(context) {
    const { positionals, reporter } = context;
    if (positionals.length === 0) throw usageError('Name at least one file with an operation, or the hash of one.');
    const hashes = await Promise.all(positionals.map(async (given) => (HASH.test(given) ? given : hashOf(await readText(given)))));
    const mutation = 'mutation Remove($input: RemoveOperationsInput!) { removeOperations(input: $input) { removed unknown } }';
    const total: RemoveResult = { removed: 0, unknown: [] };
    for (let at = 0; at < hashes.length; at += REMOVED_AT_ONCE) {
      const of = { environment: context.environment(), client: context.required('client') };
      const input = { ...of, hashes: hashes.slice(at, at + REMOVED_AT_ONCE) };
      const { removeOperations } = await context.registry().send<{ removeOperations: RemoveResult }>(mutation, { input });
      total.removed += removeOperations.removed;
      total.unknown.push(...removeOperations.unknown);
    }
    reporter.line(`${String(total.removed)} operations removed, ${String(total.unknown.length)} were not registered.`);
    reporter.finish({ ...total });
    return EXIT.success;
  },
};

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The command `check approve`. */
export const checkApprove: Command = {
  words: 'check approve',
  usage: 'CHECK --approver NAME --reason TEXT',
  summary: 'Accepts the breaking changes of a check in its environment.',
  options: { approver: { type: 'string' }, reason: { type: 'string' } },
  async run(context) {
    const id = onePositional(context.positionals, 'a check');
    const input = { id, approver: context.required('approver'), reason: context.required('reason') };
    const mutation =
      'mutation Approve($input: ApproveCheckInput!) { approveCheck(input: $input) { id verdict approval { approver reason createdAt } } }';
    const { approveCheck } = await context.registry().send<{ approveCheck: { id: string; verdict: string } }>(mutation, { input });
    context.reporter.line(stripControl(`Check ${approveCheck.id} is ${approveCheck.verdict.toLowerCase()}.`));
    context.reporter.finish({ check: approveCheck });
    return EXIT.success;
  },
};
