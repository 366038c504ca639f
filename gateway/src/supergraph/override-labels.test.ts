import { expect, it } from '@jest/globals';
import { SET_LABELS, createLabelChoice } from './override-labels.ts';

const KNOWN = ['a', 'b', 'percent(30)', 'percent(60.5)'];
const request = (requestId: string, identity: readonly string[] = []) => ({ requestId, identity });

it('chooses labels that are active, of the header and of extensions, in the order of the supergraph', () => {
  const choose = createLabelChoice(['a', 'b', 'c', 'd'], { active: ['d', 'x'], header: 'x-labels' });
  expect(choose(undefined)).toEqual(['d']);
  expect(choose(request('1', ['authorization', 'c', 'x-labels', ' b , none,,a']))).toEqual(['a', 'b', 'd']);
  expect(choose(request('1', [SET_LABELS, 'c']))).toEqual(['c', 'd']);
  expect(createLabelChoice(['a'], { active: [], header: undefined })(request('1', ['x-labels', 'a']))).toEqual([]);
});

it('chooses percent(n) for n of a hundred requests, for a larger share whenever for a smaller one, and the same for the same request', () => {
  const choose = createLabelChoice(KNOWN, { active: [], header: undefined });
  const chosen = Array.from({ length: 10_000 }, (_, i) => choose(request(`request-${String(i)}`)));
  const count = (label: string) => chosen.filter((labels) => labels.includes(label)).length;
  expect(Math.abs(count('percent(30)') - 3000)).toBeLessThan(200);
  expect(Math.abs(count('percent(60.5)') - 6050)).toBeLessThan(200);
  expect(chosen.every((labels) => !labels.includes('percent(30)') || labels.includes('percent(60.5)'))).toBe(true);
  expect(choose(request('one'))).toEqual(choose(request('one')));
});
