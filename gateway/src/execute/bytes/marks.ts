/** Places of a result that errors refer to. They are noted by their offset while it is assembled, and get a path afterwards. */
import type { AbsentField } from '../../program/bytes-program.ts';
import type { Condition } from '../../program/cache-rule.ts';
import type { FetchStep } from '../../program/program.ts';
import type { SubgraphError } from '../../program/result.ts';
import type { Errors } from './envelope.ts';

/** The errors of one response. */
export interface ReportedErrors {
  readonly step: FetchStep;
  readonly errors: Errors;
  /** Whether the response has no data. */
  readonly isWhole: boolean;
}

/** An object that is an entity with errors. */
export interface EntityMark {
  /** Within the object. */
  readonly at: number;
  readonly fetch: number;
  readonly entity: number;
}

/** A field that no fetch returned. */
export interface AbsentMark {
  /** Within the object of the field, behind it. */
  readonly at: number;
  readonly key: string;
  /** Why an object or a list must be null instead; undefined where the field may be null. */
  readonly fault: string | undefined;
  /** How far above the field's object that is. */
  readonly up: number;
}

export interface MarksOptions {
  readonly reports: readonly ReportedErrors[];
  /** The variables of conditions. */
  readonly conditions: Readonly<Record<string, unknown>>;
}

export class Marks {
  #entities: EntityMark[] = [];
  #absent: AbsentMark[] = [];
  readonly #conditions: MarksOptions['conditions'];
  /** The entities with errors, by the index of their fetch. */
  readonly #wanted: (Set<number> | undefined)[] = [];

  constructor({ reports, conditions }: MarksOptions) {
    this.#conditions = conditions;
    for (const { step, errors } of reports) for (const error of errors) this.#want(step.index, error);
  }

  /** In the order of the result. */
  get entities(): readonly EntityMark[] {
    return this.#entities;
  }

  /** In the order of the result. */
  get absent(): readonly AbsentMark[] {
    return this.#absent;
  }

  /** Forgets what was noted: the result is assembled again. */
  clear(): void {
    this.#entities = [];
    this.#absent = [];
  }

  isSelected(when: readonly Condition[]): boolean {
    return when.every(({ variable, isTrue }) => (this.#conditions[variable] === true) === isTrue);
  }

  noteEntity(fetch: number, entity: number, at: number): void {
    if (this.#wanted[fetch]?.has(entity) === true) this.#entities.push({ at, fetch, entity });
  }

  noteAbsent({ key, fault }: AbsentField, at: number, up: number): void {
    if (key !== undefined) this.#absent.push({ at, key, fault, up });
  }

  #want(fetch: number, error: SubgraphError | null): void {
    const path: unknown = error?.path;
    const entity: unknown = Array.isArray(path) && path[0] === '_entities' ? path[1] : undefined;
    if (typeof entity === 'number') (this.#wanted[fetch] ??= new Set()).add(entity);
  }
}
