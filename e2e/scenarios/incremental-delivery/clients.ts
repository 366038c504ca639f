/** Clients of incremental delivery behind one interface: Apollo Client, urql and Relay, each as its users set it up. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ApolloClient, HttpLink, InMemoryCache, gql } from '@apollo/client';
import type { Defer20220824Handler, GraphQL17Alpha9Handler } from '@apollo/client/incremental';
import { Client as UrqlClient, cacheExchange, fetchExchange } from '@urql/core';
import { buildClientSchema, getIntrospectionQuery, type IntrospectionQuery, printSchema } from 'graphql';
import { type ConcreteRequest, Environment, RecordSource, Store, createOperationDescriptor, fetchQuery } from 'relay-runtime';
import { request } from '../../stack/clients/client.ts';
import { createNetwork } from './relay-network.ts';

const require = createRequire(import.meta.url);
/** The path of its executable, which the package exports. */
const COMPILER = require('relay-compiler') as string;

/** A document with one query, and the name of that. */
export interface Query {
  readonly name: string;
  readonly text: string;
  /** The same without `@defer` and fragments, to read the store of Relay. */
  readonly whole: string;
}

/** What a client has passed on to the application. */
export interface Watched {
  /** Copies of the data so far. */
  readonly data: unknown[];
  readonly errors: unknown[];
  /** Whether the client expects no more. */
  isEnded: boolean;
  stop: () => void;
}

export type WatchQuery = (query: Query) => Watched;

const createWatched = (): Watched => ({ data: [], errors: [], isEnded: false, stop: () => undefined });

export function createApollo(uri: string, incrementalHandler: Defer20220824Handler | GraphQL17Alpha9Handler): WatchQuery {
  const handler = incrementalHandler as Defer20220824Handler;
  const client = new ApolloClient({ link: new HttpLink({ uri }), cache: new InMemoryCache(), incrementalHandler: handler });
  return ({ text }) => {
    const watched = createWatched();
    const subscription = client.watchQuery({ query: gql(text), fetchPolicy: 'no-cache', errorPolicy: 'all' }).subscribe({
      next: ({ data, error, dataState }) => {
        if (data) watched.data.push(structuredClone(data));
        if (error) watched.errors.push(error);
        watched.isEnded = dataState === 'complete' || error !== undefined;
      },
    });
    watched.stop = () => {
      subscription.unsubscribe();
    };
    return watched;
  };
}

export function createUrql(url: string): WatchQuery {
  const client = new UrqlClient({ url, exchanges: [cacheExchange, fetchExchange], preferGetMethod: false });
  return ({ text }) => {
    const watched = createWatched();
    const subscription = client.query(text, {}, { requestPolicy: 'network-only' }).subscribe(({ data, error, hasNext }) => {
      if (data) watched.data.push(structuredClone(data));
      if (error) watched.errors.push(error);
      watched.isEnded = !hasNext;
    });
    watched.stop = () => {
      subscription.unsubscribe();
    };
    return watched;
  };
}

/** Compiles the queries by the compiler of Relay and the schema that the gateway shows, and returns a client for them. */
export async function createRelay(url: string, queries: readonly Query[]): Promise<WatchQuery> {
  const artifacts = await compile(url, queries);
  return ({ name }) => {
    const environment = new Environment({ network: createNetwork(url), store: new Store(new RecordSource()) });
    const [query, whole] = [artifacts.get(name), artifacts.get(`${name}Whole`)] as [ConcreteRequest, ConcreteRequest];
    const { fragment } = createOperationDescriptor(whole, {});
    const watched = createWatched();
    const subscription = fetchQuery(environment, query, {}).subscribe({
      next: () => watched.data.push(structuredClone(environment.lookup(fragment).data)),
      error: (error: unknown) => {
        watched.errors.push(error);
        watched.isEnded = true;
      },
      complete: () => {
        watched.isEnded = true;
      },
    });
    watched.stop = () => {
      subscription.unsubscribe();
    };
    return watched;
  };
}

async function compile(url: string, queries: readonly Query[]): Promise<Map<string, ConcreteRequest>> {
  const home = await mkdtemp(join(tmpdir(), 'trestle-relay-'));
  try {
    const { body } = await request(url, { method: 'POST', body: { query: getIntrospectionQuery() } });
    const schema = printSchema(buildClientSchema((body as { data: IntrospectionQuery }).data));
    const texts = queries.flatMap(({ text, whole }) => [text, whole]).map((text) => `graphql\`${text}\`;`);
    await Promise.all(['src', 'artifacts'].map((folder) => mkdir(join(home, folder))));
    const files = {
      'schema.graphql': schema,
      'src/port.js': texts.join('\n'),
      'package.json': '{ "type": "module" }',
      'relay.config.json': JSON.stringify({
        src: './src',
        schema: './schema.graphql',
        language: 'javascript',
        artifactDirectory: './artifacts',
        eagerEsModules: true,
      }),
    };
    await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(home, name), text)));
    await promisify(execFile)(COMPILER, ['relay.config.json'], { cwd: home });
    const names = queries.flatMap(({ name }) => [name, `${name}Whole`]);
    const load = async (name: string) => {
      const artifact = (await import(join(home, 'artifacts', `${name}.graphql.js`))) as { default: ConcreteRequest };
      return [name, artifact.default] as const;
    };
    return new Map(await Promise.all(names.map(load)));
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
