/** Limits the length of strings and lists in arguments and inputs. Subgraphs enforce the table; generated documents show it. No I/O. */

/** Bounds a length, inclusive: in characters (code points) for a string, in items for a list. */
export interface Length {
  readonly min: number;
  readonly max: number;
}

/** Apply to values that the table below does not name. */
const DEFAULTS = {
  /** Generated ids have 30 characters. */
  id: { min: 0, max: 100 },
  /** A cursor encodes the values of the sort keys. */
  cursor: { min: 0, max: 4096 },
  string: { min: 0, max: 200 },
  list: { min: 0, max: 100 },
} as const satisfies Record<string, Length>;

const EMAIL = { min: 3, max: 254 };
const PERSON_NAME = { min: 1, max: 100 };
const BIO = { min: 0, max: 2000 };
const PASSWORD = { min: 8, max: 128 };
/** Longer than a valid password: a wrong one is refused as wrong, not as too long. */
const SENT_PASSWORD = { min: 0, max: 1000 };
const KEY_NAME = { min: 1, max: 100 };
const WEBHOOK_URL = { min: 1, max: 2000 };
const TITLE = { min: 1, max: 200 };
const POST_BODY = { min: 0, max: 100_000 };
const MESSAGE_BODY = { min: 1, max: 10_000 };
const DESCRIPTION = { min: 0, max: 5000 };
const CATEGORY = { min: 1, max: 50 };
const CURRENCY = { min: 3, max: 3 };

/** Limits by schema coordinate: `Type.field(argument:)` or `Input.field`. */
const LENGTHS: Readonly<Record<string, Length>> = {
  'Mutation.uploadVideo(title:)': TITLE,
  'Query.searchUsers(query:)': { min: 1, max: 200 },
  'Query.search(query:)': { min: 1, max: 200 },
  'Mutation.login(email:)': { min: 0, max: 254 },
  'Mutation.login(password:)': SENT_PASSWORD,
  'Mutation.changePassword(currentPassword:)': SENT_PASSWORD,
  'Mutation.changePassword(newPassword:)': PASSWORD,
  'Mutation.requestPasswordReset(email:)': { min: 0, max: 254 },
  'Mutation.resetPassword(password:)': PASSWORD,
  'Mutation.startTotp(currentPassword:)': SENT_PASSWORD,
  'Mutation.removeTotp(currentPassword:)': SENT_PASSWORD,
  'Mutation.startPasskey(currentPassword:)': SENT_PASSWORD,
  'Mutation.removePasskey(currentPassword:)': SENT_PASSWORD,
  'Mutation.addPasskey(name:)': KEY_NAME,
  'Mutation.createRecoveryCodes(currentPassword:)': SENT_PASSWORD,
  'UserFilter.email': { min: 0, max: 254 },
  'CreateUserInput.email': EMAIL,
  'CreateUserInput.name': PERSON_NAME,
  'CreateUserInput.password': PASSWORD,
  'CreateUserInput.bio': BIO,
  'UpdateUserInput.email': EMAIL,
  'UpdateUserInput.name': PERSON_NAME,
  'UpdateUserInput.bio': BIO,
  'UpdateUserInput.currentPassword': SENT_PASSWORD,
  'ReplaceUserInput.email': EMAIL,
  'ReplaceUserInput.name': PERSON_NAME,
  'ReplaceUserInput.password': PASSWORD,
  'ReplaceUserInput.bio': BIO,
  'ReplaceUserInput.currentPassword': SENT_PASSWORD,
  'CreateApiKeyInput.name': KEY_NAME,
  'UpdateApiKeyInput.name': KEY_NAME,
  'CreateWebhookInput.name': KEY_NAME,
  'CreateWebhookInput.url': WEBHOOK_URL,
  'UpdateWebhookInput.name': KEY_NAME,
  'UpdateWebhookInput.url': WEBHOOK_URL,
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
  'CreateCommentInput.body': MESSAGE_BODY,
  'UpdateCommentInput.body': MESSAGE_BODY,
  'CreateMessageInput.body': MESSAGE_BODY,
  'UpdateMessageInput.body': MESSAGE_BODY,
  'UpdateVideoInput.title': TITLE,
  'CreateVideoUploadInput.title': TITLE,
  'CreateVideoUploadInput.sha256': { min: 64, max: 64 },
};

/** Identifies an argument or input field of the schema. */
export interface LengthPlace {
  /** Schema coordinate, such as `Query.user(id:)` or `UserFilter.search`. */
  readonly coordinate: string;
  /** The argument's or input field's own name. */
  readonly name: string;
  /** The name of its scalar type. */
  readonly type: string;
}

/** Returns the length limit of a string argument or input field: its own, or the default of its kind. */
export function lengthAt({ coordinate, name, type }: LengthPlace): Length {
  const named = LENGTHS[coordinate];
  if (named) return named;
  if (name === 'after' || name === 'before') return DEFAULTS.cursor;
  return type === 'ID' ? DEFAULTS.id : DEFAULTS.string;
}

/** Returns the length limit of a coordinate. Throws when the table does not name it. */
export function lengthOf(coordinate: string): Length {
  const length = LENGTHS[coordinate];
  if (!length) throw new Error(`No length is defined for ${coordinate}`);
  return length;
}

/** Lists every coordinate that has its own length limit. */
export const NAMED_LENGTHS: readonly string[] = Object.keys(LENGTHS);

/** Limits the items of a list argument or input field. It does not apply to `_entities(representations:)`. */
export const LIST_LENGTH: Length = DEFAULTS.list;
/** Limits the characters of an id. */
export const ID_LENGTH: Length = DEFAULTS.id;
