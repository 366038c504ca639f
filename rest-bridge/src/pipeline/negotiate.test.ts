import { describe, expect, it } from '@jest/globals';
import { requireNoSelection } from './negotiate.ts';

const PDF = { type: 'application/pdf' };

describe('requireNoSelection', () => {
  it('accepts the default fields', () => {
    expect(() => {
      requireNoSelection({ fields: undefined, include: [] }, PDF);
    }).not.toThrow();
  });

  it.each([
    [{ fields: ['id'], include: [] }, ['fields']],
    [{ fields: undefined, include: ['order'] }, ['include']],
    [{ fields: ['id'], include: ['order'] }, ['fields', 'include']],
  ])('refuses %j for a PDF, and names the parameters', (selection, parameters) => {
    const details = parameters.map((field) => ({ field, message: 'cannot be combined with application/pdf' }));
    expect(() => {
      requireNoSelection(selection, PDF);
    }).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR', details }));
  });
});
