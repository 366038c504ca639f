/** Scenes on the subgraphs of `more-subgraphs.mjs`: what real schemas and subgraphs have beside plain objects. `chain` is as in `scenes.mjs`. */
export const MORE_SCENES = [
  {
    name: 'e: abstract types and conditions',
    chain: 'e',
    query: `query Feed($brief: Boolean!, $full: Boolean!) {
      feed(first: 50) { __typename id ... on Photo { url width caption @skip(if: $brief) } ... on Article { title words summary @include(if: $full) }
        ... on Link { title target } author { id name } } }`,
    variables: { brief: true, full: true },
  },
  {
    name: 'f: a subgraph that writes JSON like Python',
    chain: 'f',
    query: '{ parcels(first: 50) { id label grams isFragile product { id name price } } }',
  },
  {
    name: 'g: 5 % of the fields fail',
    chain: 'g',
    query: '{ users(first: 100) { id name rating reviews } }',
    hasErrors: true,
  },
];
