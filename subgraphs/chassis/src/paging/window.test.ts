import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Sorting, parseWindow, toCursor } from './window.ts';

const sorting: Sorting<'AGE' | 'NAME' | 'ROLE' | 'TIME'> = {
  list: 'people',
  columns: {
    AGE: { column: 'age', type: 'int4', nullable: true },
    NAME: { column: 'name', type: 'text' },
    ROLE: { column: 'role', type: '"Role"', values: ['USER', 'ADMIN'] },
    TIME: { column: 'createdAt', type: 'timestamptz' },
  },
  default: { field: 'TIME', direction: 'DESC' },
};
const FIRST = { createdAt: new Date(0), id: 'x' };
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
  it('holds the position of its row in the order that it was made for', () => {
    fc.assert(
      fc.property(orderBy, row, (order, data) => {
        const window = parseWindow({ orderBy: order }, sorting);
        const { after } = parseWindow({ orderBy: order, after: toCursor(data, window) }, sorting);
        const values = window.order.map(({ column }) => data[column as keyof typeof data]);
        expect(after).toEqual(values.map((value) => (value instanceof Date ? value.toISOString() : value)));
      }),
    );
  });

  it('is refused when it is of another order or no cursor at all', () => {
    const cursor = toCursor(FIRST, parseWindow({}, sorting));
    expect(() => parseWindow({ after: cursor, orderBy: [{ field: 'NAME' }] }, sorting)).toThrow('not valid');
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(() => parseWindow({ after: text }, sorting)).toThrow('not valid');
      }),
    );
  });

  it('is refused by another list that has the same sort order', () => {
    const cursor = toCursor(FIRST, parseWindow({}, sorting));
    expect(() => parseWindow({ after: cursor }, { ...sorting, list: 'places' })).toThrow('not valid');
    expect(() => parseWindow({ before: cursor }, { ...sorting, list: 'places' })).toThrow('not valid');
  });

  it('is accepted without the name of its list, as cursors were before they had it', () => {
    const unnamed = Buffer.from(JSON.stringify(['createdAt-id-', '1970-01-01T00:00:00.000Z', 'x'])).toString('base64url');
    expect(parseWindow({ after: unnamed }, sorting).after).toEqual(['1970-01-01T00:00:00.000Z', 'x']);
  });

  it('is refused when its values have other types than the columns', () => {
    for (const values of [[1, 'x'], ['never', 'x'], ['2026-01-01T00:00:00Z', 5], ['2026-01-01T00:00:00Z'], [null, 'x'], [{}, []]]) {
      for (const signature of ['createdAt-id-', 'people:createdAt-id-']) {
        const forged = Buffer.from(JSON.stringify([signature, ...values])).toString('base64url');
        expect(() => parseWindow({ after: forged }, sorting)).toThrow('not valid');
      }
    }
  });
});

describe('the arguments of a connection', () => {
  it('default to 10 rows in the default order, ties broken by id', () => {
    expect(parseWindow({}, sorting)).toMatchObject({
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
  ])('are refused when they are %j, naming %s', (args, field) => {
    let faults: readonly { field: string }[] | undefined;
    try {
      parseWindow(args, sorting);
    } catch (error) {
      faults = (error as { details?: readonly { field: string }[] }).details;
    }
    expect(faults?.map((fault) => fault.field)).toContain(field);
  });
});
