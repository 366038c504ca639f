/**
 * Replaces equal fetches of entities at several places of the result by one fetch (ADR 50). The plan becomes a graph: the new fetch waits for everything
 * that the replaced fetches waited for. The longest chain of fetches stays as long as it was.
 */
import type { PlanNode } from '@apollo/query-planner';
import { type Located, shapeOf } from './alike-nodes.ts';
import { pathKey, readPlace } from '../selections/places.ts';

/** A fetch, or a condition with its fetches, at one or several places. `after` has the indexes of the tasks that it waits for, which come before it. */
export interface Task {
  readonly alike: readonly Located[];
  readonly after: readonly number[];
}

/** A task of the plan as the planner made it. */
interface Step {
  readonly located: Located;
  readonly after: ReadonlySet<number>;
  /** Steps with equal shapes may be merged; undefined for a step that must not be. */
  readonly shape: string | undefined;
  /** The longest chain of fetches in it. */
  readonly length: number;
}

/** Plans with more fetches stay as they are. */
const MAX_STEPS = 500;
/** The most steps that are visited for one plan: each attempt to merge two steps measures the graph, and so visits all of its steps. */
const MAX_MEASURED = 500_000;

/**
 * Returns the tasks of a plan in an order that works; undefined for a plan in which no fetches of entities at different paths become one. `namesOf` gives
 * every name that an object of a type may have.
 */
export function batchEntities(plan: PlanNode, namesOf: (type: string) => readonly string[]): Task[] | undefined {
  const steps: Step[] = [];
  const canBatch = addSteps({ node: plan, place: [] }, { steps, after: new Set(), namesOf });
  if (!canBatch || steps.length > MAX_STEPS) return undefined;
  const graph = new Graph(steps);
  for (const alike of groupByShape(steps)) graph.merge(alike);
  return graph.hasBatches ? graph.toTasks() : undefined;
}

interface Around {
  readonly steps: Step[];
  /** What the node waits for; afterwards what waits for the node waits for this. */
  after: ReadonlySet<number>;
  readonly namesOf: (type: string) => readonly string[];
}

/** Adds the steps of a node. Returns false for a plan that must stay as it is: with contextual arguments, or with deferred parts. */
function addSteps({ node, place }: Located, around: Around): boolean {
  switch (node.kind) {
    case 'Sequence':
      return !('begins' in node) && node.nodes.every((each) => addSteps({ node: each, place }, around));
    case 'Parallel': {
      const { after } = around;
      const ends = new Set<number>();
      for (const each of node.nodes) {
        const branch = { ...around, after };
        if (!addSteps({ node: each, place }, branch)) return false;
        for (const end of branch.after) ends.add(end);
      }
      if (node.nodes.length > 0) around.after = ends;
      return true;
    }
    case 'Flatten':
      return addSteps({ node: node.node, place: readPlace(place, node.path, around.namesOf) }, around);
    case 'Condition':
    case 'Fetch': {
      const { steps, after } = around;
      if (!isPlain(node)) return false;
      const shape = isOfEntities(node) ? shapeOf(node, true) : undefined;
      around.after = new Set([steps.push({ located: { node, place }, after, shape, length: lengthOf(node) }) - 1]);
      return true;
    }
    case 'Defer':
      return false;
  }
}

/** Returns whether no fetch of a node has contextual arguments and nothing in it is deferred. */
function isPlain(node: PlanNode | undefined): boolean {
  switch (node?.kind) {
    case undefined:
      return true;
    case 'Sequence':
    case 'Parallel':
      return node.nodes.every(isPlain);
    case 'Flatten':
      return isPlain(node.node);
    case 'Condition':
      return isPlain(node.ifClause) && isPlain(node.elseClause);
    case 'Fetch':
      return (node.contextRewrites ?? []).length === 0;
    case 'Defer':
      return false;
  }
}

/** Returns whether all fetches of a node are of entities. */
function isOfEntities(node: PlanNode | undefined): boolean {
  switch (node?.kind) {
    case undefined:
      return true;
    case 'Sequence':
    case 'Parallel':
      return node.nodes.every(isOfEntities);
    case 'Flatten':
      return isOfEntities(node.node);
    case 'Condition':
      return isOfEntities(node.ifClause) && isOfEntities(node.elseClause);
    case 'Fetch':
      return node.requires !== undefined;
    case 'Defer':
      return false;
  }
}

function lengthOf(node: PlanNode | undefined): number {
  switch (node?.kind) {
    case 'Sequence':
      return node.nodes.reduce((sum, each) => sum + lengthOf(each), 0);
    case 'Parallel':
      return Math.max(0, ...node.nodes.map(lengthOf));
    case 'Flatten':
      return lengthOf(node.node);
    case 'Condition':
      return Math.max(lengthOf(node.ifClause), lengthOf(node.elseClause));
    default:
      return 1;
  }
}

function groupByShape(steps: readonly Step[]): number[][] {
  const groups = new Map<string, number[]>();
  for (const [i, { shape }] of steps.entries()) if (shape !== undefined) groups.set(shape, [...(groups.get(shape) ?? []), i]);
  return [...groups.values()].filter(({ length }) => length > 1);
}

/** The steps of a plan, of which some are one task. */
class Graph {
  readonly #steps: readonly Step[];
  /** For each step the first step of its task. */
  readonly #first: number[];
  readonly #longest: number;
  /** How many more attempts to merge are allowed. */
  #attempts: number;

  constructor(steps: readonly Step[]) {
    this.#steps = steps;
    this.#first = steps.map((_, i) => i);
    this.#longest = this.#longestChain();
    this.#attempts = MAX_MEASURED / steps.length;
  }

  /** Whether any task has places with different paths. */
  get hasBatches(): boolean {
    return this.#steps.some(
      ({ located }, i) => pathKey(located.place) !== pathKey((this.#steps[this.#first[i] as number] as Step).located.place),
    );
  }

  /** Makes as few tasks as possible of steps with equal fetches. */
  merge(alike: readonly number[]): void {
    const firsts: number[] = [];
    for (const step of alike) {
      const found = firsts.some((first) => {
        if (--this.#attempts < 0) return false;
        this.#first[step] = first;
        if (this.#longestChain() <= this.#longest) return true;
        this.#first[step] = step;
        return false;
      });
      if (!found) firsts.push(step);
    }
  }

  toTasks(): Task[] {
    const members = this.#members();
    const numbers = new Map<number, number>();
    const tasks: Task[] = [];
    const add = (first: number): number => {
      const known = numbers.get(first);
      if (known !== undefined) return known;
      const own = members.get(first) ?? [];
      const after = Array.from(this.#before(own), add);
      const number = tasks.push({ alike: own.map(({ located }) => located), after: withoutImplied(after, tasks) }) - 1;
      numbers.set(first, number);
      return number;
    };
    for (const first of members.keys()) add(first);
    return tasks;
  }

  /** Returns the steps of each task, by its first step. */
  #members(): Map<number, Step[]> {
    const members = new Map<number, Step[]>();
    for (const [i, step] of this.#steps.entries()) {
      const first = this.#first[i] as number;
      const others = members.get(first);
      if (others) others.push(step);
      else members.set(first, [step]);
    }
    return members;
  }

  /** Returns the tasks that a task waits for. */
  #before(steps: readonly Step[]): Set<number> {
    return new Set(steps.flatMap(({ after }) => Array.from(after, (each) => this.#first[each] as number)));
  }

  /** Returns the length of the longest chain of fetches; infinity when tasks wait for each other. */
  #longestChain(): number {
    const members = this.#members();
    const lengths = new Map<number, number>();
    const measure = (first: number): number => {
      const known = lengths.get(first);
      if (known !== undefined) return known;
      lengths.set(first, Infinity);
      const own = members.get(first) ?? [];
      const length = Math.max(0, ...Array.from(this.#before(own), measure)) + Math.max(...own.map((each) => each.length));
      lengths.set(first, length);
      return length;
    };
    return Math.max(...Array.from(members.keys(), measure));
  }
}

/** Returns the tasks without those that another one of them waits for. */
function withoutImplied(after: readonly number[], tasks: readonly Task[]): number[] {
  const implied = new Set<number>();
  const imply = (task: number) => {
    for (const each of tasks[task]?.after ?? []) {
      if (implied.has(each)) continue;
      implied.add(each);
      imply(each);
    }
  };
  after.forEach(imply);
  return [...new Set(after)].filter((each) => !implied.has(each)).sort((a, b) => a - b);
}
