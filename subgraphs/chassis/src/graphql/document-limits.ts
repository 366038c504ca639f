/** Limits of documents that are sent to a subgraph. */

/** The most tokens of a document. The gateway accepts less than a tenth of that from its clients, and adds keys and type names. */
export const MAX_TOKENS = 50_000;
