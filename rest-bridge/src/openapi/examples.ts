/** Examples, made from the schemas themselves so that they always fit. No I/O. */
import type { JsonSchema } from './schemas.ts';

/** What a field of this name usually holds. */
const BY_NAME: Readonly<Record<string, unknown>> = {
  accessToken: 'eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9…',
  age: 36,
  amount: 2500,
  bio: 'Builds bridges.',
  body: 'Trestles carry what bridges need.',
  category: 'tools',
  code: 'VALIDATION_ERROR',
  currency: 'EUR',
  customerId: 'usr_01m7ybgss00x7tksx9pb4xntqf',
  authorId: 'usr_01m7ybgss00x7tksx9pb4xntqf',
  description: 'Forty metres of hemp.',
  durationSeconds: 90,
  email: 'ada@example.com',
  expiresIn: 900,
  field: 'email',
  href: '/v1/orders/ord_01m7ybgss0n6d8q2v4k7c3x5ra',
  id: 'usr_01m7ybgss00x7tksx9pb4xntqf',
  limit: 10,
  message: 'must be an e-mail address',
  method: 'POST',
  name: 'Ada Lovelace',
  number: 'INV-000042',
  orderId: 'ord_01m7ybgss0n6d8q2v4k7c3x5ra',
  password: 'correct horse battery',
  price: 1250,
  productId: 12,
  qty: 2,
  requestId: '3f2b7a80-52b4-4f0e-9d7b-0c7a4a5b9f11',
  stock: 40,
  tags: ['steel'],
  title: 'How a trestle stands',
  tokenType: 'Bearer',
  total: 2500,
  unitPrice: 1250,
  version: 3,
};
/** What a resource of this type usually holds. */
const BY_TYPE: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  Channel: { id: 'chn_01m7ybgss0v3x9c2k7q4n8d5ra', name: 'bridge-building', topic: 'How to span things.' },
  Comment: { id: 'cmt_01m7ybgss0e6h2m8p4t7w9z3bd', body: 'Well said.' },
  CursorPagination: { hasNextPage: true, hasPrevPage: false, nextCursor: 'WyJjcmVhdGVkQXQiLCIyMDI2LTAxLTMxIl0', prevCursor: null },
  Invoice: { id: 'inv_01m7ybgss0q5s8v2x6a9d3g7jk' },
  Message: { id: 'msg_01m7ybgss0k4n7q3t6w8z2c5fh', body: 'Good morning.' },
  Order: { id: 'ord_01m7ybgss0n6d8q2v4k7c3x5ra' },
  OrderItem: { id: 'itm_01m7ybgss0r7t2w5y8b3e6h9km' },
  PagePagination: { page: 1, limit: 10, total: 42, totalPages: 5, hasNextPage: true, nextCursor: 'WyJjcmVhdGVkQXQiLCIyMDI2LTAxLTMxIl0' },
  Payment: { id: 'pay_01m7ybgss0s8v3y6b9e2h5k7nq' },
  Post: { id: 'pst_01m7ybgss0t9w4z7c2f5j8m3pr' },
  Product: { id: 12, name: 'Rope', category: 'ropes' },
  Video: { id: 'vid_01m7ybgss0w2z5c8f3j6m9q4tv', title: 'A bridge in a day' },
};

/** What only shows when something went wrong, or was asked for. */
const RARE = new Set(['_masked', '_errors', '_links']);

export type Components = Readonly<Record<string, JsonSchema>>;

/** A value that the schema allows, as full as it usually is. */
export function exampleOf(schema: JsonSchema, components: Components, name = '', owner = ''): unknown {
  const { $ref, type, items, anyOf, format } = schema;
  if (typeof $ref === 'string') {
    const type = $ref.split('/').at(-1) ?? '';
    return exampleOf(components[type] ?? {}, components, name, type);
  }
  if (Array.isArray(anyOf)) return exampleOf(anyOf[0] as JsonSchema, components, name);
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

function exampleOfObject({ properties = {}, required = [] }: JsonSchema, components: Components, owner: string): object {
  const usual = Object.entries(properties as Components).filter(([name, { description }]) => {
    return (required as string[]).includes(name) || !(RARE.has(name) || /^(Only with|With|In place of) `/.test(String(description)));
  });
  const own = BY_TYPE[owner] ?? {};
  return Object.fromEntries(
    usual.map(([name, property]) => [name, Object.hasOwn(own, name) ? own[name] : exampleOf(property, components, name)]),
  );
}

function fits(kind: unknown, value: unknown): boolean {
  return kind === 'integer' || kind === 'number' ? typeof value === 'number' : kind === typeof value;
}
