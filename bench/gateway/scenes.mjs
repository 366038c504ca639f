/** The operations that are measured. `chain` names the hand-written function with the same result. */
export const SCENES = [
  { name: 'a: 10 users of one subgraph', chain: 'a', query: '{ users(first: 10) { id name email } }' },
  {
    name: 'b: 50 users × orders × product, 3 subgraphs',
    chain: 'b',
    query: '{ users(first: 50) { id name email orders(first: 3) { id total status product { id name price } } } }',
  },
  {
    name: 'c: about 100 KB',
    chain: 'c',
    query: '{ users(first: 200) { id name email bio orders(first: 4) { id total status product { id name price } } } }',
  },
  {
    name: 'd: a mutation with two joins',
    chain: 'd',
    query:
      'mutation Rename($id: ID!, $name: String!) { rename(id: $id, name: $name) { id name orders(first: 3) { id total product { id name price } } } }',
    variables: { id: 'u1', name: 'Another name' },
  },
];
