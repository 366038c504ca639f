import { describe, expect, it } from '@jest/globals';
import { print } from 'graphql';
import { WEBHOOK } from './event-resources.ts';
import { createProjection } from './projection.ts';
import type { Resource } from './resource.ts';
import { INVOICE, INVOICE_DOCUMENT, USER } from './resources.ts';

describe('createProjection', () => {
  const select = (resource: Resource, fields?: readonly string[]) =>
    print(createProjection(resource, { fields, include: [] }, 1).selectionSet);

  it('selects the time of the last change', () => {
    expect(select(USER, ['name', 'isActive'])).toContain('_changedAt: updatedAt');
    expect(select(INVOICE, ['total'])).toContain('_changedAt: updatedAt');
  });

  it.each<[string, Resource, string[] | undefined]>([
    ['an invoice, which shows whether its order is paid', INVOICE, undefined],
    ['the document of an invoice', INVOICE_DOCUMENT, undefined],
    ['an account with hasOrders', USER, ['hasOrders']],
    ['a webhook with the end of its previous secret', WEBHOOK, ['previousSecretExpiresAt']],
  ])('selects no time of the last change for %s', (_, resource, fields) => {
    expect(select(resource, fields)).not.toContain('_changedAt');
  });
});
