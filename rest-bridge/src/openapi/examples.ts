/** Examples that match their schemas. Ids are those of the demo data, so that the requests work unchanged. No I/O. */
import type { Resource } from '../resources/resource.ts';
import type { JsonSchema } from './schemas.ts';

/** Ids of the demo data: Ada's account, and resources that she may read. */
export const DEMO_IDS = {
  users: 'usr_01hr47qr60p91dc7y56q4qr0h3',
  'api-keys': 'key_01hr47qr60zaa1qk9k5e90xvpm',
  posts: 'pst_01ht08sx18czkwf6fdj1rnagf4',
  comments: 'cmt_01htxfdrsg9chn5kaqyab0b247',
  orders: 'ord_01jmneqc10j6hxhev6rqhym1vz',
  payments: 'pay_01jmnzwp5004nnde3fepma0ekf',
  products: 12,
  videos: 'vid_01jkg0tqg0xws8gt4k39x3ab7m',
  channels: 'chn_01hr4b1ym0ed5qs2g6h55dfkcz',
  messages: 'msg_01jkk4jwx8gpmtjfze1pm7v9f9',
} as const;

/** Returns the example of a `{…}` segment: an id of the collection that the segment before it names. */
export function idExampleOf(path: string, name: string): string {
  const segments = path.split('/');
  const noun = segments[segments.indexOf(`{${name}}`) - 1] ?? '';
  return String((DEMO_IDS as Readonly<Record<string, string | number>>)[noun] ?? DEMO_IDS.users);
}

const DEMO_JOB = 'job_01m7ybgss0q5s8v2x6a9d3g7jp';

/** Examples by the name of a field. */
const BY_NAME: Readonly<Record<string, unknown>> = {
  accessToken: 'eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9…',
  age: 36,
  amount: 2500,
  bio: 'Builds bridges.',
  body: 'Trestles carry what bridges need.',
  category: 'tools',
  code: 'VALIDATION_ERROR',
  currency: 'EUR',
  currentPassword: 'ada-Passw0rd!',
  customerId: DEMO_IDS.users,
  authorId: DEMO_IDS.users,
  description: 'Forty metres of hemp.',
  durationSeconds: 90,
  email: 'ada@example.com',
  expiresIn: 900,
  field: 'email',
  href: `/v1/orders/${DEMO_IDS.orders}`,
  id: DEMO_IDS.users,
  in: ['title'],
  isActive: true,
  limit: 10,
  message: 'must be an e-mail address',
  method: 'POST',
  name: 'Ada Lovelace',
  newPassword: 'correct horse 9 battery',
  number: 'INV-000042',
  token: 'kT4mVx0pQ2c8Zr5uN1yWb7eHs3dLf9gJa6oXi0tRq_U',
  orderId: DEMO_IDS.orders,
  ownerId: DEMO_IDS.users,
  password: 'ada-Passw0rd!',
  price: 1250,
  minPrice: 1000,
  maxPrice: 5000,
  q: 'bridge',
  tag: 'timber',
  productId: 12,
  qty: 2,
  overlapHours: 24,
  requestId: '3f2b7a80-52b4-4f0e-9d7b-0c7a4a5b9f11',
  scopes: ['orders:read'],
  secret: 'trestle_live_…',
  stock: 40,
  tags: ['steel'],
  title: 'How a trestle stands',
  tokenType: 'Bearer',
  total: 2500,
  unitPrice: 1250,
  version: 3,
};
/** Examples of fields by the type of a resource; they replace those by name. */
const BY_TYPE: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  Event: { id: 'evt_019f3c1d2a4b7c8d9e0f1a2b3c', source: '/orders', type: 'order.paid', subject: DEMO_IDS.orders, data: { version: 2 } },
  WebhookDelivery: {
    ...{ id: 'dlv_01kp1h6c00v3t8r5n2m9x4q7ab', webhookId: 'whk_01kp1h6c00v3t8r5n2m9x4q7ab', kind: 'event', status: 'succeeded' },
    ...{ eventId: 'evt_019f3c1d2a4b7c8d9e0f1a2b3c', eventType: 'order.paid', nextAttemptAt: null },
    attempts: [
      {
        startedAt: '2026-01-31T12:00:00Z',
        durationMs: 120,
        requestHeaders: { 'webhook-id': 'evt_019f3c1d2a4b7c8d9e0f1a2b3c' },
        status: 204,
        responseHeaders: { server: 'nginx' },
        error: null,
      },
    ],
  },
  Webhook: { id: 'whk_01kp1h6c00v3t8r5n2m9x4q7ab', name: 'Warehouse', disabledReason: null, failingSince: null },
  ApiKey: { id: DEMO_IDS['api-keys'], name: 'Demo key', lastFour: 'x7Qa', isAllowedInUrl: false, expiresAt: null, successorId: null },
  Channel: { id: DEMO_IDS.channels, name: 'bridge-building', topic: 'How to span things.' },
  Comment: { id: DEMO_IDS.comments, body: 'Well said.' },
  CursorPagination: {
    limit: 10,
    hasNextPage: true,
    hasPrevPage: false,
    nextCursor: 'WyJjcmVhdGVkQXQiLCIyMDI2LTAxLTMxIl0',
    prevCursor: null,
  },
  Job: { id: DEMO_JOB, kind: 'reset_password', status: 'succeeded', progress: 100, result: null, error: null, attempts: 1 },
  PublishVideoJob: { id: DEMO_JOB, jobId: DEMO_JOB, status: 'queued' },
  ResetPasswordJob: { id: DEMO_JOB, jobId: DEMO_JOB, status: 'queued' },
  Invoice: { id: 'inv_01m7ybgss0q5s8v2x6a9d3g7jk' },
  Message: { id: DEMO_IDS.messages, body: 'Good morning.' },
  Order: { id: DEMO_IDS.orders },
  OrderItem: { id: 'itm_01m7ybgss0r7t2w5y8b3e6h9km' },
  PagePagination: { page: 1, limit: 10, total: 42, totalPages: 5, hasNextPage: true, nextCursor: 'WyJjcmVhdGVkQXQiLCIyMDI2LTAxLTMxIl0' },
  Payment: { id: DEMO_IDS.payments },
  Post: { id: DEMO_IDS.posts },
  Product: { id: DEMO_IDS.products, name: 'Rope', category: 'ropes' },
  Video: { id: DEMO_IDS.videos, title: 'A bridge in a day' },
  VideoUpload: {
    id: 'upl_01m7ybgss0q5s8v2x6a9d3g7jr',
    title: 'Driving the last rivet',
    size: 1_048_576,
    offset: 0,
    sha256: null,
    direct: null,
  },
};

/** Optional fields that examples omit: a response has them only after a failure, for masked values, or with `perPage`. */
const RARE = new Set(['_masked', '_errors', 'meta', 'links']);

const FOR_ADMINISTRATORS = { role: undefined, isActive: undefined, plan: undefined, requestsPerMinute: undefined };

/** Fields of the example of an input or of arguments; undefined removes a field. The demo system accepts the examples unchanged. */
const BY_INPUT: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  // The example should stay valid.
  CreateApiKeyInput: { name: 'Nightly export', isAllowedInUrl: false, expiresAt: undefined },
  UpdateApiKeyInput: { name: 'Nightly export', isAllowedInUrl: false },
  CreateWebhookInput: { name: 'Warehouse', url: 'https://example.com/hooks', types: ['order.*'] },
  UpdateWebhookInput: { name: 'Warehouse', url: 'https://example.com/hooks', types: ['order.*'], isEnabled: true },
  ReplayWebhookInput: { types: ['order.*'] },
  CreateUserInput: { email: 'grace@example.com', name: 'Grace Hopper' },
  // An order has either one product or several items.
  CreateOrderInput: { items: undefined },
  // What every account may change of itself. Only a new account may have a password.
  UpdateUserInput: FOR_ADMINISTRATORS,
  ReplaceUserInput: { ...FOR_ADMINISTRATORS, password: undefined },
  // Exactly one of two arguments.
  'Mutation.requestPasswordReset': { id: undefined },
  'Mutation.completeLogin': { challenge: 'kT4mVx0pQ2c8Zr5uN1yWb7eHs3dLf9gJa6oXi0tRq_U', code: '492039', passkey: undefined },
  'Mutation.confirmTotp': { code: '492039' },
  // A payment on account has no order.
  CreatePaymentInput: { orderId: undefined },
  UpdatePostInput: { status: 'published' },
  CreateVideoUploadInput: { title: 'Driving the last rivet', size: 1_048_576, sha256: undefined },
};

/** Returns the example of a request body. */
export function exampleOfInput(input: string, schema: JsonSchema, components: Components): object {
  const example = { ...(exampleOf(schema, components) as object), ...BY_INPUT[input] };
  return Object.fromEntries(Object.entries(example).filter(([, value]) => value !== undefined));
}

/** The schemas of `components` by name. */
export type Components = Readonly<Record<string, JsonSchema>>;

/** The place of a value: the name of its field, and the component that contains it. */
interface ExamplePlace {
  readonly name?: string;
  readonly owner?: string;
}

/** Returns a valid value of the schema, with the fields that it usually has. */
export function exampleOf(schema: JsonSchema, components: Components, { name = '', owner = '' }: ExamplePlace = {}): unknown {
  const { $ref, type, items, anyOf, format } = schema;
  if (typeof $ref === 'string') {
    const type = $ref.split('/').at(-1) ?? '';
    return exampleOf(components[type] ?? {}, components, { name, owner: type });
  }
  if (Array.isArray(schema['examples'])) return (schema['examples'] as unknown[])[0];
  if (Array.isArray(anyOf)) return exampleOf(anyOf[0] as JsonSchema, components, { name });
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum'])) return (schema['enum'] as unknown[])[0];
  const kind: unknown = Array.isArray(type) ? type[0] : type;
  const known = BY_NAME[name];
  if (kind === 'object') return exampleOfObject(schema, components, owner);
  if (kind === 'array') return known ?? [exampleOf((items ?? {}) as JsonSchema, components)];
  if (known !== undefined && fits(kind, known)) return known;
  if (kind === 'integer' || kind === 'number') return 1;
  if (kind === 'boolean') return true;
  return format === 'date-time' ? '2026-01-31T12:00:00Z' : 'text';
}

/** Returns the default representation of a resource: its default fields and its links. `fields` are the schemas of its fields. */
export function exampleOfResource(
  resource: Resource,
  { version, fields }: { readonly version: number; readonly fields: Components },
): object {
  const own = BY_TYPE[resource.type] ?? {};
  const valueOf = (name: string) => (Object.hasOwn(own, name) ? own[name] : exampleOf(fields[name] ?? {}, VALUES, { name }));
  const links = resource.links?.toLinks({ id: own['id'], status: 'PENDING', customer: { id: DEMO_IDS.users } }, `/v${String(version)}`);
  return { ...Object.fromEntries(resource.defaultFields.map((name) => [name, valueOf(name)])), ...(links && { _links: links }) };
}

/** The schemas that fields refer to. */
const VALUES: Components = {
  Money: { type: 'object', properties: { amount: { type: 'integer' }, currency: { type: 'string' } }, required: ['amount', 'currency'] },
};

const HIGHLIGHT = 'The old <mark>bridge</mark> over the river';

/** Returns the example of a search response: one result of each type. */
export function searchExample(version: number): object {
  const self = (path: string) => ({ _links: { self: { href: `/v${String(version)}/${path}` } } });
  const { users, posts, comments } = DEMO_IDS;
  const { name, bio, title, body } = BY_NAME;
  return {
    data: [
      { type: 'user', id: users, name, bio, highlights: { bio: HIGHLIGHT }, ...self(`users/${users}`) },
      { type: 'post', id: posts, title, status: 'published', highlights: { body: HIGHLIGHT }, ...self(`posts/${posts}`) },
      { type: 'comment', id: comments, body, postId: posts, highlights: { body: HIGHLIGHT }, ...self(`comments/${comments}`) },
    ],
    pagination: BY_TYPE['CursorPagination'],
  };
}

function exampleOfObject({ properties = {}, required = [] }: JsonSchema, components: Components, owner: string): object {
  const usual = Object.entries(properties as Components).filter(([name]) => (required as string[]).includes(name) || !RARE.has(name));
  const own = BY_TYPE[owner] ?? {};
  return Object.fromEntries(
    usual.map(([name, property]) => [name, Object.hasOwn(own, name) ? own[name] : exampleOf(property, components, { name })]),
  );
}

function fits(kind: unknown, value: unknown): boolean {
  return kind === 'integer' || kind === 'number' ? typeof value === 'number' : kind === typeof value;
}
