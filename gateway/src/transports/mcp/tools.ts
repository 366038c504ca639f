/** The tools of the MCP endpoint: the operations of the trusted documents, described by the supergraph that is served. */
import type { Log } from '@trestle/log';
import { Fault } from '@trestle/schema/errors';
import type { TrustedDocuments } from '../../documents/trusted.ts';
import type { ClientApplication } from '../../request/operation.ts';
import type { OperationDescription } from '../../request/operation-description.ts';

/** An operation that an agent can call. */
export interface Tool extends OperationDescription {
  readonly documentId: string;
}

export interface Tools {
  /** Returns the tools of a client by their names, in the order of the names. Rejects when the planner is not available. */
  list(client: ClientApplication): Promise<ReadonlyMap<string, Tool>>;
}

export interface ToolOptions {
  readonly readTrusted: () => TrustedDocuments | undefined;
  /** Describes the operations of a document; rejects with VALIDATION_ERROR for a document that is not valid. */
  readonly describe: (query: string) => Promise<readonly OperationDescription[]>;
  /** Returns the hash of the supergraph. */
  readonly readHash: () => string;
  readonly hasMutations: boolean;
  readonly log: Log;
}

/** Documents beyond this number are not described. */
const MAX_DOCUMENTS = 5000;
/** Reasons that are logged. */
const MAX_REASONS = 5;

type Descriptions = ReadonlyMap<string, readonly OperationDescription[]>;

/** What descriptions follow from. */
interface Source {
  readonly hash: string;
  readonly trusted: TrustedDocuments;
}

/** Creates the tools. They are described again after a change of the supergraph or of the documents, when they are next requested. */
export function createTools(options: ToolOptions): Tools {
  const { readTrusted, readHash, hasMutations } = options;
  let last: (Source & { readonly descriptions: Promise<Descriptions> }) | undefined;
  const read = (source: Source): Promise<Descriptions> => {
    if (last?.hash === source.hash && last.trusted === source.trusted) return last.descriptions;
    const descriptions = describeAll(source, options);
    const current = { ...source, descriptions };
    last = current;
    descriptions.catch(() => {
      // The next request tries again.
      if (last === current) last = undefined;
    });
    return descriptions;
  };
  return {
    async list(client) {
      const trusted = readTrusted();
      if (!trusted) return new Map();
      const descriptions = await read({ hash: readHash(), trusted });
      const byName = new Map<string, Tool>();
      for (const [documentId, text] of trusted.list(client))
        for (const operation of descriptions.get(text) ?? [])
          if ((hasMutations || operation.kind === 'query') && !byName.has(operation.name))
            byName.set(operation.name, { ...operation, documentId });
      return new Map([...byName].sort(([one], [other]) => (one < other ? -1 : 1)));
    },
  };
}

/** Describes the documents one after the other, so that operations of clients are planned meanwhile. */
async function describeAll({ trusted }: Source, { describe, log }: ToolOptions): Promise<Descriptions> {
  const described = new Map<string, readonly OperationDescription[]>();
  const reasons: string[] = [];
  let left = MAX_DOCUMENTS;
  for (const text of trusted.texts) {
    if (left-- === 0) {
      reasons.push(`there are more than ${String(MAX_DOCUMENTS)}`);
      break;
    }
    try {
      described.set(text, await describe(text));
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'VALIDATION_ERROR') throw error;
      reasons.push(`${nameOf(text)}: ${error.message}`);
    }
  }
  if (reasons.length > 0)
    log.warn(`trusted documents that are not offered as tools (${String(reasons.length)}): ${reasons.slice(0, MAX_REASONS).join('; ')}`);
  return described;
}

/** Names a document that may not be valid, for the log: by its operation, else by its beginning. */
function nameOf(text: string): string {
  return /\b(?:query|mutation|subscription)\s+(\w{1,100})/.exec(text)?.[1] ?? JSON.stringify(text.slice(0, 40));
}
