/** GraphiQL as the gateway and the registry serve it to browsers at the path of GraphQL requests. Bundled by `build.mjs`. */
import { createGraphiQLFetcher } from '@graphiql/toolkit';
import { GraphiQL } from 'graphiql';
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import 'graphiql/style.css';
import './app.css';

/** Names of the bundled workers, which lie beside this file, by Monaco's label; `build.mjs` defines them. */
const workers = WORKERS;
globalThis.MonacoEnvironment = {
  getWorker: (_, label) => new Worker(new URL(workers[label] ?? workers.editorWorkerService, import.meta.url), { type: 'module' }),
};

/** The page is served where the graph is. */
const url = new URL(location.pathname, location.href);
const subscriptionUrl = new URL(url.href.replace(/^http/, 'ws')).href;

const LOGIN = `# Log in: run Login with your account.
# Then enter its token in the Headers tab below:
# {"authorization": "Bearer <token>"}
# All operations then send it.
mutation Login {
  login(
    email: "ada@example.com"
    password: "ada-Passw0rd!"
  ) { token }
}
`;
const PRODUCTS = `query Products {
  productsConnection(first: 5) {
    totalCount
    edges { node { id name } }
  }
}
`;
const USER_CREATED = `# A subscription stays open and shows each event.
# Run it, and create a user in another tab.
subscription NewUsers {
  userCreated { id name }
}
`;
const REGISTRY = `# Every field needs a token of the registry.
# Enter it in the Headers tab below:
# {"authorization": "Bearer trestle_reg_…"}
query Environments {
  environments {
    name
    subgraphs { name url }
    contracts { name include exclude }
    release { number action createdAt launch { id } }
  }
}
`;
const ANY = '# The Docs panel on the left has all fields.\n{\n  __typename\n}\n';

/** Returns example operations for an editor that is opened for the first time: those that the schema has, or one that every schema has when it is unknown. */
async function chooseOperations() {
  const fields = 'fields { name }';
  const query = `{ query: __type(name: "Query") { ${fields} } mutation: __type(name: "Mutation") { ${fields} } subscription: __type(name: "Subscription") { ${fields} } }`;
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query }),
  });
  const { data } = await response.json();
  const has = (type, name) => data?.[type]?.fields.some((field) => field.name === name) === true;
  const found = [
    has('query', 'productsConnection') && PRODUCTS,
    has('mutation', 'login') && LOGIN,
    has('subscription', 'userCreated') && USER_CREATED,
    has('mutation', 'publishSubgraphs') && REGISTRY,
  ].filter(Boolean);
  return found.length > 0 ? found.join('\n') : ANY;
}

const defaultQuery = await chooseOperations().catch(() => ANY);
createRoot(document.getElementById('graphiql')).render(
  createElement(GraphiQL, {
    fetcher: createGraphiQLFetcher({ url: url.href, subscriptionUrl }),
    defaultQuery,
    defaultEditorToolsVisibility: 'headers',
  }),
);
