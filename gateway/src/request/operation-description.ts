/** An operation of a document as a tool for agents: its name, what it does, and the JSON Schema of its variables. Types only. */

/** A JSON Schema (draft 2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The schema of the variables: an object. */
export interface VariablesSchema extends JsonSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
}

export interface OperationDescription {
  readonly name: string;
  readonly kind: 'query' | 'mutation';
  /** The name to send with the document; undefined when the document has no other operation. */
  readonly operationName: string | undefined;
  readonly description: string;
  readonly inputSchema: VariablesSchema;
}
