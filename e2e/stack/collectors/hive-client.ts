/** The client of GraphQL Hive, as far as tests use it. Its own types bring those of browsers into every test. */
import type { DocumentNode, GraphQLSchema } from 'graphql';

export interface HiveClient {
  collectRequest(request: {
    readonly args: {
      readonly schema: GraphQLSchema;
      readonly document: DocumentNode;
      readonly variableValues: object;
      readonly contextValue: object;
    };
    /** In nanoseconds. */
    readonly duration: number;
    readonly result: { readonly data: object };
  }): void;
  /** Of a client with a CDN. */
  readonly persistedDocuments?: { resolve(id: string): Promise<string | null> } | undefined;
  dispose(): Promise<void>;
}

export interface HiveOptions {
  readonly enabled: boolean;
  readonly token: string;
  readonly agent: { readonly maxSize: number; readonly sendInterval: number };
  readonly usage: { readonly target: string; readonly endpoint: string };
  readonly persistedDocuments?: { readonly cdn: { readonly endpoint: string; readonly accessToken: string } };
}

/** No literal, so that the compiler does not read its types. */
const LIBRARY = ['@graphql-hive', 'core'].join('/');

/** Creates a client. */
export async function createHive(options: HiveOptions): Promise<HiveClient> {
  const library = (await import(LIBRARY)) as { createHive(options: HiveOptions): HiveClient };
  return library.createHive(options);
}
