/** The limits of lengths, counts and numbers in requests, as the subgraphs enforce them. No I/O. */
import { LIST_LENGTH, lengthAt } from '@trestle/schema/lengths';
import { type GraphQLInputType, getNamedType, getNullableType, isListType } from 'graphql';

/** Keywords of JSON Schema that limit a value. */
export interface Limits {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly format?: string;
  readonly items?: Limits & { readonly type: string };
}

const AGE = { minimum: 0, maximum: 150 };
const QTY = { minimum: 1, maximum: 1000 };
const COUNT = { minimum: 0 };
const PER_MINUTE = { minimum: 1, maximum: 1_000_000 };
const OVERLAP_HOURS = { minimum: 0, maximum: 168 };
const EMAIL = { format: 'email' };
const PASSWORD = { format: 'password' };
const EVENT_TYPES = { minItems: 1, maxItems: 50 };
const TAGS = { maxItems: 20, items: { type: 'string', minLength: 1, maxLength: 50 } };

/** Limits by schema coordinate. `e2e/scenarios/rest-documents` compares each with the running system. */
const LIMITS: Readonly<Record<string, Limits>> = {
  'CreateUserInput.age': AGE,
  'UpdateUserInput.age': AGE,
  'ReplaceUserInput.age': AGE,
  'UpdateUserInput.requestsPerMinute': PER_MINUTE,
  'ReplaceUserInput.requestsPerMinute': PER_MINUTE,
  'RotateApiKeyInput.overlapHours': OVERLAP_HOURS,
  'RotateWebhookSecretInput.overlapHours': OVERLAP_HOURS,
  'CreateUserInput.email': EMAIL,
  'UpdateUserInput.email': EMAIL,
  'ReplaceUserInput.email': EMAIL,
  'CreateUserInput.password': PASSWORD,
  'ReplaceUserInput.password': PASSWORD,
  'UpdateUserInput.currentPassword': PASSWORD,
  'ReplaceUserInput.currentPassword': PASSWORD,
  'Mutation.login(email:)': EMAIL,
  'Mutation.login(password:)': PASSWORD,
  'Mutation.changePassword(currentPassword:)': PASSWORD,
  'Mutation.changePassword(newPassword:)': PASSWORD,
  'Mutation.startTotp(currentPassword:)': PASSWORD,
  'Mutation.removeTotp(currentPassword:)': PASSWORD,
  'Mutation.startPasskey(currentPassword:)': PASSWORD,
  'Mutation.removePasskey(currentPassword:)': PASSWORD,
  'Mutation.createRecoveryCodes(currentPassword:)': PASSWORD,
  'CreateOrderInput.qty': QTY,
  'OrderItemInput.qty': QTY,
  'CreateProductInput.price': COUNT,
  'CreateProductInput.stock': COUNT,
  'UpdateProductInput.price': COUNT,
  'UpdateProductInput.stock': COUNT,
  'CreatePaymentInput.amount': { minimum: 1 },
  'CreateWebhookInput.types': EVENT_TYPES,
  'UpdateWebhookInput.types': EVENT_TYPES,
  'CreatePostInput.tags': TAGS,
  'UpdatePostInput.tags': TAGS,
};

/** A field of an input type, or an argument. */
export interface InputField {
  /** Such as `CreateUserInput.email` or `Mutation.login(email:)`. */
  readonly coordinate: string;
  readonly name: string;
  readonly type: GraphQLInputType;
}

/** Returns the keywords that limit a field of an input or an argument, besides its type. */
export function limitsOf({ coordinate, name, type }: InputField): Limits {
  return {
    ...(isListType(getNullableType(type)) ? { maxItems: LIST_LENGTH.max } : lengthsOf(coordinate, name, type)),
    ...LIMITS[coordinate],
  };
}

function lengthsOf(coordinate: string, name: string, type: GraphQLInputType): Limits {
  const scalar = getNamedType(type).name;
  if (scalar !== 'String' && scalar !== 'ID') return {};
  const { min, max } = lengthAt({ coordinate, name, type: scalar });
  return { ...(min > 0 && { minLength: min }), maxLength: max };
}
