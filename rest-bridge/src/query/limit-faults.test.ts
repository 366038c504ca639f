import { describe, expect, it } from '@jest/globals';
import { readApiSdl } from '@trestle/schema/sdl';
import { buildSchema, isInputObjectType } from 'graphql';
import { createLimitCheck } from './limit-faults.ts';

const schema = buildSchema(readApiSdl());

function find(input: string, values: Readonly<Record<string, unknown>>) {
  const type = schema.getType(input);
  if (!isInputObjectType(type)) throw new Error(`no input type ${input}`);
  const fields = Object.values(type.getFields()).map((field) => ({
    coordinate: `${input}.${field.name}`,
    name: field.name,
    type: field.type,
  }));
  return createLimitCheck(fields)(values);
}

describe('createLimitCheck', () => {
  it.each([
    ['CreateUserInput', { name: '' }, [{ field: 'name', message: 'must have 1 to 100 characters' }]],
    ['CreateUserInput', { name: ' ' }, [{ field: 'name', message: 'must not be blank' }]],
    ['CreateUserInput', { name: '🪵'.repeat(100), age: 150, bio: '' }, []],
    ['CreateUserInput', { name: '🪵'.repeat(101) }, [{ field: 'name', message: 'must have 1 to 100 characters' }]],
    [
      'CreateUserInput',
      { age: 151, password: 'short' },
      [
        { field: 'age', message: 'must be 0 to 150' },
        { field: 'password', message: 'must have 8 to 128 characters' },
      ],
    ],
    ['UpdateUserInput', { bio: null, unknown: 'x' }, []],
    ['CreatePaymentInput', { currency: 'EURO' }, [{ field: 'currency', message: 'must have 3 characters' }]],
    ['CreatePaymentInput', { amount: 0 }, [{ field: 'amount', message: 'must be at least 1' }]],
    ['CreatePostInput', { tags: Array<string>(21).fill('a') }, [{ field: 'tags', message: 'must have at most 20 items, not 21' }]],
    ['CreatePostInput', { tags: ['a', ''] }, [{ field: 'tags', message: 'item must have 1 to 50 characters' }]],
    ['CreateWebhookInput', { types: [] }, [{ field: 'types', message: 'must have 1 to 50 items' }]],
    ['UpdateWebhookInput', { types: ['*'] }, []],
    ['UpdateWebhookInput', { types: Array<string>(51).fill('*') }, [{ field: 'types', message: 'must have 1 to 50 items' }]],
  ])('finds in %s %j the faults %j', (input, values, faults) => {
    expect(find(input, values)).toEqual(faults);
  });
});
