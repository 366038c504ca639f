/** Counts the errors of results by the subgraph and the path in the result, as a tree of bounded size. No I/O. */
import type { IPathErrorStats } from '@apollo/usage-reporting-protobuf';
import type { UsageError } from '../../request/operation-usage.ts';

/** The most paths of one tree. Errors at further ones count where their path leaves the tree. */
const MAX_NODES = 200;
const MAX_DEPTH = 20;
/** Paths have aliases, which clients choose. */
const MAX_KEY = 200;
/** What a path takes in memory beside its key. */
const NODE_BYTES = 150;

interface Node {
  readonly children: Map<string, Node>;
  errors: number;
  /** Requests with an error at this path. */
  requests: number;
}

export class ErrorTree {
  readonly #root = createNode();
  #size = 0;
  #bytes = 0;

  /**
   * Counts the errors of one request; one without a path when none is known. Returns about how many bytes more the tree takes: none with `isFull`,
   * when it gets no further paths.
   */
  add(errors: readonly UsageError[], isFull: boolean): number {
    const before = this.#bytes;
    const found = new Set<Node>();
    for (const error of errors.length > 0 ? errors : [undefined]) {
      const node = error ? this.#find(toKeys(error), isFull) : this.#root;
      node.errors++;
      found.add(node);
    }
    for (const node of found) node.requests++;
    return this.#bytes - before;
  }

  /** Adds the counts of another one. */
  merge(other: ErrorTree): void {
    const mergeNode = (keys: readonly string[], { children, errors, requests }: Node) => {
      const node = this.#find(keys);
      node.errors += errors;
      node.requests += requests;
      for (const [key, child] of children) mergeNode([...keys, key], child);
    };
    mergeNode([], other.#root);
  }

  /** Returns the tree as a report has it. */
  toStats(): IPathErrorStats {
    return toStats(this.#root);
  }

  #find(keys: readonly string[], isFull = false): Node {
    let node = this.#root;
    for (const key of keys) {
      let child = node.children.get(key);
      if (!child) {
        if (isFull || this.#size >= MAX_NODES || key.length > MAX_KEY) return node;
        this.#size++;
        child = createNode();
        node.children.set(key, child);
        this.#bytes += NODE_BYTES + key.length;
      }
      node = child;
    }
    return node;
  }
}

function createNode(): Node {
  return { children: new Map(), errors: 0, requests: 0 };
}

/** An error that no subgraph reported has no place below one. */
function toKeys({ path = [], extensions = {} }: UsageError): string[] {
  const { service } = extensions;
  if (typeof service !== 'string') return [];
  return [`service:${service}`, ...path.filter((each) => typeof each === 'string').slice(0, MAX_DEPTH)];
}

function toStats({ children, errors, requests }: Node): IPathErrorStats {
  const entries = [...children].map(([key, child]) => [key, toStats(child)] as const);
  return { children: Object.fromEntries(entries), errorsCount: errors, requestsWithErrorsCount: requests };
}
