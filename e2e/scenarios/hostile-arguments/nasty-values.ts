/** Values that break careless code, by the GraphQL type that they stand for, and cursors that were tampered with. No I/O. */

const STRINGS: readonly unknown[] = [
  ...[
    '',
    ' ',
    '\0',
    'a\0b',
    '\ud800',
    'a\udfff',
    '__proto__',
    'constructor',
    "'; DROP TABLE users; --",
    '%_\\',
    '\\',
    '$1',
    '\u202e\ufeff',
  ],
  ...['0', '-1', '2147483648', '9'.repeat(40), '1e5', 'NaN', 'usr_', `usr_${'z'.repeat(26)}`, `ord_${'0'.repeat(26)}`, 'usr_\u0130'],
  ...['x'.repeat(101), 'x'.repeat(201), 'x'.repeat(100_001), '\u0130'.repeat(150), '\u{1f600}'.repeat(100), '\ufdfa'.repeat(200)],
  ...[null, 1, 1.5, true, {}, []],
];
const DATES: readonly unknown[] = [
  ...['0000-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '0999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z', '-000001-01-01T00:00:00Z'],
  ...['+275760-09-13T00:00:00.000Z', '275760-09-13T00:00:00Z', '+275760-09-13T00:00:00.001Z', '294277-01-01T00:00:00Z', 'infinity', 'now'],
  ...[
    '2026-02-30T00:00:00Z',
    '2026-01-01',
    '2026-01-01T00:00:00+99:99',
    '2026-01-01T23:59:60Z',
    '2026-01-01T24:00:00Z',
    '',
    '\0',
    0,
    1e308,
  ],
  ...[-62_167_219_200_000, null, {}],
];
const INTS: readonly unknown[] = [0, -1, 1, 2 ** 31 - 1, -(2 ** 31), 2 ** 31, 1.5, 1e308, '1', null, true, []];
const BOOLEANS: readonly unknown[] = [true, false, null, 'true', 0];

/** By the name of a scalar. Any other type gets those of a string. */
const NASTY: Readonly<Record<string, readonly unknown[]>> = {
  Int: INTS,
  Float: [...INTS, -0],
  Boolean: BOOLEANS,
  DateTime: DATES,
};

/** Returns values for a scalar of this name, of its own type and of others. */
export function nastyValuesOf(type: string): readonly unknown[] {
  return NASTY[type] ?? STRINGS;
}

const IN_CURSORS: readonly unknown[] = [
  ...[null, true, 0, -1, 1.5, 1e308, 2 ** 53, 2 ** 31, -(2 ** 31), {}, [], [[]], { toString: 1 }, '', '\0', '\ud800', 'x'.repeat(3000)],
  ...['0000-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z', '+275760-09-13T00:00:00.000Z', '9999-12-31T23:59:59.999Z', 'infinity'],
];

/** Returns what can be made of a real cursor: every part of it replaced, left out or repeated, and what is no cursor at all. */
export function tamperedCursors(cursor: string): string[] {
  const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
  const changed = parts.flatMap((_, i) => IN_CURSORS.map((value) => JSON.stringify(parts.with(i, value))));
  const texts = [
    ...changed,
    JSON.stringify(parts.slice(1)),
    JSON.stringify([...parts, ...parts]),
    '{"__proto__":[1]}',
    '[',
    'null',
    '"x"',
    '1e999',
  ];
  return [
    ...texts.map((text) => Buffer.from(text).toString('base64url')),
    ...[cursor.slice(0, -3), `${cursor}=`, `${cursor}A`, '', '=', '\0', '\ud800', '%%%', '//8='],
  ];
}
