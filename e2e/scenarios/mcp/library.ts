/** A library as a small supergraph, and its documents. */
const SDL = `
  type Query {
    "Finds books, the newest first."
    books(
      "What the books must have."
      filter: Filter
      "At most so many."
      first: Int! = 10
    ): [Book!]! @cost(weight: 3) @listSize(slicingArguments: ["first"], assumedSize: 10)
    broken: String
  }
  type Mutation { "Lends a book to a reader." lend(id: ID!, until: Date): Book }
  type Subscription { lent: Book }
  "A calendar date."
  scalar Date @specifiedBy(url: "https://dates.example/iso")
  "How a book is kept."
  enum Shelf { "For reading at home." HOME "In the reading room." ROOM }
  input Filter { "Part of the title." title: String, shelf: Shelf, tags: [String!]! = ["new"], not: Filter }
  type Book { id: ID! title: String! }`;
const BOOKS = `# Searches the library.
# One page only.
query Books($filter: Filter, $first: Int! = 5) { books(filter: $filter, first: $first) { id title } }`;
export const DOCUMENTS = {
  books: BOOKS,
  titled:
    '"""\nBooks of one title.\n"""\nquery Titled("The whole title." $title: String!, $count: Int!) { books(filter: { title: $title }, first: $count) { id } }',
  lend: 'mutation Lend($id: ID!, $until: Date) { lend(id: $id, until: $until) { id } }',
  lent: 'subscription Lent { lent { id } }',
  anonymous: '{ books { id } }',
  broken: 'query Broken { broken books(first: 1) { id } }',
  failing: 'query Failing { broken }',
  stale: 'query Stale { removed }',
};
/** What was lent. */
export const lent: { id: string; until: unknown }[] = [];
export const subgraphs = {
  library: {
    sdl: SDL,
    resolvers: {
      Query: {
        books: (_: unknown, { filter, first }: { filter?: { title?: string }; first: number }) =>
          Array.from({ length: Math.min(first, 3) }, (__, id) => ({ id, title: filter?.title ?? `Book ${String(id)}` })),
        broken: () => {
          throw new Error('a secret of the subgraph');
        },
      },
      Mutation: {
        lend: (_: unknown, { id, until: date }: { id: string; until: unknown }) => {
          lent.push({ id, until: date });
          return { id, title: 'T' };
        },
      },
    },
  },
};

const AGENTS = { name: 'agents', documents: { own: 'query Own { books(first: 1) { title } }' } };

/** The manifest of trusted documents. */
export const MANIFEST = { clients: [{ documents: DOCUMENTS }, AGENTS] };
