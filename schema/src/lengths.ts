/** How long strings and lists in arguments and inputs may be: one table for the subgraphs, which enforce it, and for documents that show it. No I/O. */

/** In characters (code points), or in items for a list. */
export interface Length {
  readonly min: number;
  readonly max: number;
}

/** For whatever the table below does not name. */
const DEFAULTS = {
  /** Ids have 30 characters. */
  id: { min: 0, max: 100 },
  /** Cursors hold the values that a list is sorted by. */
  cursor: { min: 0, max: 4096 },
  string: { min: 0, max: 200 },
  list: { min: 0, max: 100 },
} as const satisfies Record<string, Length>;

const EMAIL = { min: 3, max: 254 };
const PERSON_NAME = { min: 1, max: 100 };
const BIO = { min: 0, max: 2000 };
const PASSWORD = { min: 8, max: 128 };
const TITLE = { min: 1, max: 200 };
const POST_BODY = { min: 0, max: 100_000 };
const SAYING = { min: 1, max: 10_000 };
const DESCRIPTION = { min: 0, max: 5000 };
const CATEGORY = { min: 1, max: 50 };
const CURRENCY = { min: 3, max: 3 };

/** By schema coordinate: `Type.field(argument:)` or `Input.field`. */
const LENGTHS: Readonly<Record<string, Length>> = {
  'Query.searchUsers(query:)': { min: 1, max: 200 },
  'Mutation.login(email:)': { min: 0, max: 254 },
  // Longer than a password may be: a wrong one is UNAUTHORIZED, not invalid.
  'Mutation.login(password:)': { min: 0, max: 1000 },
  'UserFilter.email': { min: 0, max: 254 },
  'CreateUserInput.email': EMAIL,
  'CreateUserInput.name': PERSON_NAME,
  'CreateUserInput.password': PASSWORD,
  'CreateUserInput.bio': BIO,
  'UpdateUserInput.email': EMAIL,
  'UpdateUserInput.name': PERSON_NAME,
  'UpdateUserInput.bio': BIO,
  'ReplaceUserInput.email': EMAIL,
  'ReplaceUserInput.name': PERSON_NAME,
  'ReplaceUserInput.password': PASSWORD,
  'ReplaceUserInput.bio': BIO,
  'CreateProductInput.name': TITLE,
  'CreateProductInput.description': DESCRIPTION,
  'CreateProductInput.category': CATEGORY,
  'CreateProductInput.currency': CURRENCY,
  'UpdateProductInput.name': TITLE,
  'UpdateProductInput.description': DESCRIPTION,
  'UpdateProductInput.category': CATEGORY,
  'UpdateProductInput.currency': CURRENCY,
  'CreatePaymentInput.currency': CURRENCY,
  'CreatePostInput.title': TITLE,
  'CreatePostInput.body': POST_BODY,
  'UpdatePostInput.title': TITLE,
  'UpdatePostInput.body': POST_BODY,
  'CreateCommentInput.body': SAYING,
  'UpdateCommentInput.body': SAYING,
  'CreateMessageInput.body': SAYING,
  'UpdateMessageInput.body': SAYING,
  'UpdateVideoInput.title': TITLE,
};

/** Where a value stands in the schema. */
export interface LengthPlace {
  /** E.g. `Query.user(id:)` or `UserFilter.search`. */
  readonly coordinate: string;
  /** The argument's or input field's own name. */
  readonly name: string;
  /** The name of its scalar type. */
  readonly type: string;
}

/** Returns how long a string may be at this place of the schema. */
export function lengthAt({ coordinate, name, type }: LengthPlace): Length {
  const named = LENGTHS[coordinate];
  if (named) return named;
  if (name === 'after' || name === 'before') return DEFAULTS.cursor;
  return type === 'ID' ? DEFAULTS.id : DEFAULTS.string;
}

/** Returns the length that the table gives for a coordinate. Throws for one that it does not name. */
export function lengthOf(coordinate: string): Length {
  const length = LENGTHS[coordinate];
  if (!length) throw new Error(`There is no length for ${coordinate}`);
  return length;
}

/** Every coordinate that the table names. */
export const NAMED_LENGTHS: readonly string[] = Object.keys(LENGTHS);

/** How many items a list may have, ids of a request's entities aside. */
export const LIST_LENGTH: Length = DEFAULTS.list;
/** How long an id may be. */
export const ID_LENGTH: Length = DEFAULTS.id;
