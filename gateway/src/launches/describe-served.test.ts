import { expect, it } from '@jest/globals';
import { describeServed } from './describe-served.ts';

const [a, b] = ['a'.repeat(64), 'b'.repeat(64)];
const current = { role: 'current', hash: '1234', launch: { launch: a, release: 3 } } as const;
const canary = { role: 'canary', hash: '5678', launch: { launch: b, release: 3 }, percent: 10 } as const;
const plain = { role: 'current', hash: '9abc', launch: undefined } as const;
const graph = (name: string | undefined, ...served: (typeof current | typeof canary | typeof plain)[]) => ({
  place: { name },
  readServed: () => served,
});

it('describes the only graph by its hash, its launch, and its canary', () => {
  expect(describeServed([graph(undefined, plain)])).toEqual({ supergraph: '9abc' });
  expect(describeServed([graph(undefined, current)])).toEqual({ supergraph: '1234', launch: a, release: 3 });
  expect(describeServed([graph(undefined, current, canary)])).toEqual({
    supergraph: '1234',
    launch: a,
    release: 3,
    canary: { launch: b, percent: 10 },
  });
});

it('describes several graphs by their names, and launches only of those that have one', () => {
  expect(describeServed([graph('one', current, canary), graph('two', plain)])).toEqual({
    supergraphs: { one: '1234', two: '9abc' },
    launches: { one: { launch: a, release: 3, canary: { launch: b, percent: 10 } } },
  });
  expect(describeServed([graph('two', plain)])).toEqual({ supergraphs: { two: '9abc' } });
});
