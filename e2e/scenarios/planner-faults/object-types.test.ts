/** Objects that Apollo's executor merges although they have different types. Each runs on the real gateway. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

let federation: Federation;
afterEach(() => federation.stop());

describe('the type of an object', () => {
  it('is kept when an interface object is merged into it, so that no field is lost', async () => {
    const media = [
      { __typename: 'Book', id: 'b1', title: 'Bridges', pages: 90 },
      { __typename: 'Film', id: 'f1', title: 'Arches', minutes: 80 },
    ];
    federation = await startFederation({
      library: {
        sdl: `type Query { media: [Media!]! }
          interface Media @key(fields: "id") { id: ID! title: String! }
          type Book implements Media @key(fields: "id") { id: ID! title: String! pages: Int }
          type Film implements Media @key(fields: "id") { id: ID! title: String! minutes: Int }`,
        resolvers: {
          Query: { media: () => media },
          Media: {
            __resolveType: ({ __typename }: { __typename: string }) => __typename,
            __resolveReference: ({ id }: { id: string }) => media.find((one) => one.id === id),
          },
          Book: { __resolveReference: ({ id }: { id: string }) => media.find((one) => one.id === id) },
          Film: { __resolveReference: ({ id }: { id: string }) => media.find((one) => one.id === id) },
        },
      },
      ratings: {
        sdl: `type Query { best: [Media!]! } type Media @key(fields: "id") @interfaceObject { id: ID! rating: Int related: Media }`,
        resolvers: {
          Query: { best: () => [{ id: 'f1' }, { id: 'b1' }] },
          Media: {
            __resolveReference: (key: object) => ({ ...key, __typename: 'Media' }),
            rating: ({ id }: { id: string }) => (id === 'b1' ? 4 : 5),
            related: () => ({ id: 'b1' }),
          },
        },
      },
    });
    const fields = 'rating ... on Book { pages rating } ... on Film { minutes }';
    expect(
      (await federation.ask(`{ media { __typename ${fields} } best { __typename title ${fields} related { __typename title } } }`)).body,
    ).toEqual({
      data: {
        media: [
          { __typename: 'Book', rating: 4, pages: 90 },
          { __typename: 'Film', rating: 5, minutes: 80 },
        ],
        best: [
          { __typename: 'Film', title: 'Arches', rating: 5, minutes: 80, related: { __typename: 'Book', title: 'Bridges' } },
          { __typename: 'Book', title: 'Bridges', rating: 4, pages: 90, related: { __typename: 'Book', title: 'Bridges' } },
        ],
      },
    });
  });

  it('distinguishes objects that have the same id', async () => {
    const thing = (type: string) => ({ __typename: type, id: '3' });
    const resolve = { __resolveReference: (key: object) => key };
    federation = await startFederation({
      shelf: {
        sdl: `type Query { things: [Thing!]! } union Thing = Book | Film
          type Book @key(fields: "id") { id: ID! } type Film @key(fields: "id") { id: ID! }`,
        resolvers: {
          Query: { things: () => [thing('Film'), thing('Book'), thing('Film')] },
          Thing: { __resolveType: ({ __typename }: { __typename: string }) => __typename },
        },
      },
      books: { sdl: 'type Book @key(fields: "id") { id: ID! title: String }', resolvers: { Book: { ...resolve, title: () => 'a book' } } },
      films: { sdl: 'type Film @key(fields: "id") { id: ID! title: String }', resolvers: { Film: { ...resolve, title: () => 'a film' } } },
    });
    const things = [{ film: 'a film' }, { book: 'a book' }, { film: 'a film' }];
    expect((await federation.ask('{ things { ... on Book { book: title } ... on Film { film: title } } }')).body).toEqual({
      data: { things },
    });
    expect((await federation.ask('{ things { ... on Film { film: title } ... on Book { id } } }')).body).toEqual({
      data: { things: [things[0], { id: '3' }, things[2]] },
    });
  });
});
