import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Sorting, readWindow, toCursor } from './window.ts';

const sorting: Sorting<'AGE' | 'NAME' | 'ROLE' | 'TIME'> = {
  columns: {
    AGE: { column: 'age', type: 'int4', nullable: true },
    NAME: { column: 'name', type: 'text' },
    ROLE: { column: 'role', type: '"Role"', values: ['USER', 'ADMIN'] },
    TIME: { column: 'createdAt', type: 'timestamptz' },
  },
  default: { field: 'TIME', direction: 'DESC' },
};
const FIELDS = ['AGE', 'NAME', 'ROLE', 'TIME'] as const;

const orderBy = fc.array(fc.record({ field: fc.constantFrom(...FIELDS), direction: fc.constantFrom('ASC' as const, 'DESC' as const) }), {
  maxLength: 4,
});
const row = fc.record({
  id: fc.string({ minLength: 1 }).filter((text) => !text.includes('\0')),
  age: fc.option(fc.integer({ min: 0, max: 150 })),
  name: fc.string().filter((text) => !text.includes('\0')),
  role: fc.constantFrom('USER', 'ADMIN'),
  createdAt: fc.date({ min: new Date(0), max: new Date('2099-01-01'), noInvalidDate: true }),
});

describe('a cursor', () => {
  it('leads back to the place of its row, in the order it was made for', () => {
    fc.assert(
      fc.property(orderBy, row, (order, data) => {
        const { order: keys } = readWindow({ orderBy: order }, sorting);
        const { after } = readWindow({ orderBy: order, after: toCursor(data, keys) }, sorting);
        const values = keys.map(({ column }) => data[column as keyof typeof data]);
        expect(after).toEqual(values.map((value) => (value instanceof Date ? value.toISOString() : value)));
      }),
    );
  });

  it('of another order, or of nobody, is refused and never read', () => {
    const { order } = readWindow({}, sorting);
    const cursor = toCursor({ createdAt: new Date(0), id: 'x' }, order);
    expect(() => readWindow({ after: cursor, orderBy: [{ field: 'NAME' }] }, sorting)).toThrow('not valid');
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(() => readWindow({ after: text }, sorting)).toThrow('not valid');
      }),
    );
  });

  it('that was tampered with to hold other types is refused', () => {
    for (const values of [[1, 'x'], ['never', 'x'], ['2026-01-01T00:00:00Z', 5], ['2026-01-01T00:00:00Z'], [null, 'x'], [{}, []]]) {
      const forged = Buffer.from(JSON.stringify(['createdAt-id-', ...values])).toString('base64url');
      expect(() => readWindow({ after: forged }, sorting)).toThrow('not valid');
    }
  });
});

describe('the arguments of a connection', () => {
  it('give 10 rows in the default order, ties broken by id', () => {
    expect(readWindow({}, sorting)).toMatchObject({
      limit: 10,
      offset: 0,
      backward: false,
      order: [
        { column: 'createdAt', descending: true },
        { column: 'id', descending: true },
      ],
    });
  });

  it.each([
    [{ first: 0 }, 'first'],
    [{ first: 101 }, 'first'],
    [{ last: -1 }, 'last'],
    [{ first: 1, last: 1 }, 'last'],
    [{ offset: -1 }, 'offset'],
    [{ offset: 1, last: 2 }, 'offset'],
    [{ first: 5, before: 'x' }, 'before'],
  ])('%j is refused and names %s', (args, field) => {
    let faults: readonly { field: string }[] | undefined;
    try {
      readWindow(args, sorting);
    } catch (error) {
      faults = (error as { details?: readonly { field: string }[] }).details;
    }
    expect(faults?.map((fault) => fault.field)).toContain(field);
  });
});
