import { describe, expect, it } from '@jest/globals';
import { GraphQLError, buildSchema, parse, validate } from 'graphql';
import { hideValues } from './hide-values.ts';

const schema = buildSchema(`
  enum Color { RED }
  input Login { password: String!, pin: Int }
  type Query { login(input: Login, color: Color, pin: Int): Int }
`);
const messagesOf = (source: string): string[] => {
  try {
    return validate(schema, parse(source)).map((error) => hideValues(error).message);
  } catch (error) {
    return [hideValues(error as GraphQLError).message];
  }
};

describe('the message of an invalid document', () => {
  it.each([
    ['{ login(pin: "planted") }', 'Int cannot represent non-integer value: …'],
    ['{ login(input: { password: 4111111111111111 }) }', 'String cannot represent a non string value: …'],
    ['{ login(input: { password: { planted: "planted" } }) }', 'String cannot represent a non string value: …'],
    ['{ login(input: "planted") }', 'Expected value of type "Login", found ….'],
    ['{ login(color: "planted") }', 'Enum "Color" cannot represent non-enum value: ….'],
    ['{ login(input: "a" "planted") }', 'Syntax Error: Expected Name, found String ….'],
    ['{ login(input: """planted""" 4111 }', 'Syntax Error: Expected Name, found Int ….'],
  ])('does not show the values of %s', (source, message) => {
    expect(messagesOf(source)[0]).toBe(message);
  });

  it('keeps the locations of the error', () => {
    const [error] = validate(schema, parse('{ login(pin: "planted") }'));
    expect(hideValues(error as GraphQLError).locations).toEqual([{ line: 1, column: 14 }]);
  });

  it('is unchanged when it quotes no value', () => {
    const error = new GraphQLError('Cannot query field "x" on type "Query".');
    expect(hideValues(error)).toBe(error);
  });
});
