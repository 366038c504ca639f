import { describe, expect, it } from '@jest/globals';
import type { PlanStep } from '../program/program.ts';
import { CachedSubgraphs } from './subgraph-caching.ts';

const plan = (...services: string[]) =>
  ({ plan: { kind: 'sequence', steps: services.map((service) => ({ kind: 'fetch', service })) } }) as unknown as {
    readonly plan: PlanStep;
  };
const NEVER = { enabled: false, ttlSeconds: 0 };
const ALWAYS = { enabled: true, ttlSeconds: 0 };

describe('CachedSubgraphs', () => {
  it('allows every operation by default', () => {
    const subgraphs = new CachedSubgraphs();
    expect([subgraphs.allow(plan('a', 'b')), subgraphs.allow({ plan: undefined })]).toEqual([true, true]);
  });

  it('allows an operation when all subgraphs of its plan are enabled; names have no case', () => {
    const subgraphs = new CachedSubgraphs({ all: ALWAYS, bySubgraph: new Map([['b', { enabled: false }]]) });
    expect([subgraphs.allow(plan('a')), subgraphs.allow(plan('a', 'B')), subgraphs.allow({ plan: undefined })]).toEqual([
      true,
      false,
      true,
    ]);
    const few = new CachedSubgraphs({ all: NEVER, bySubgraph: new Map([['a', { enabled: true }]]) });
    expect([few.allow(plan('A')), few.allow(plan('a', 'b'))]).toEqual([true, false]);
  });

  it('decides again after a change of the settings', () => {
    const [subgraphs, program] = [new CachedSubgraphs(), plan('a')];
    const allowed = [DISABLED, ENABLED, DISABLED].map((settings) => {
      subgraphs.use(settings);
      return subgraphs.allow(program);
    });
    expect(allowed).toEqual([false, true, false]);
  });
});

const DISABLED = { all: ALWAYS, bySubgraph: new Map([['a', { enabled: false }]]) };
const ENABLED = { all: NEVER, bySubgraph: new Map([['a', { enabled: true }]]) };
