/**
 * Executes an operation with deferred fragments (`@defer`). The fetches of a part begin after those that they depend on; where the plan does not say
 * which these are, when the part around it is delivered. All parts share one tree of objects; each has its own errors.
 */
import type { CompiledDeferred, DeferredPart, DeferredProgram } from '../../program/deferred-program.ts';
import type { Operation } from '../../program/operation.ts';
import { type Data, type PlanStep, TOO_LARGE, type ValueFault } from '../../program/program.ts';
import type { ResultError } from '../../program/result.ts';
import { Execution, type ExecutionRequest } from '../execute.ts';
import { ExecutionErrors, toClientError } from '../execution-errors.ts';
import { DeliveredValues, type Nulled, findNulled, setNull } from './nulled-objects.ts';
import { type Target, findTargets } from './targets.ts';

/** The most objects of deferred fragments that one operation delivers, in all parts. */
export const MAX_TARGETS = 10_000;

/** One object of a part as it is delivered, or the first response. */
export interface Delivery {
  /** JSON; `null` where a required field is missing. */
  readonly data: string;
  readonly errors: readonly ResultError[];
}

/** One object of a deferred fragment that the client will get. */
export interface Pending extends Target {
  readonly id: string;
  readonly label: string | undefined;
}

/** A part that is complete. */
export interface CompletedPart {
  readonly objects: readonly (Pending & Delivery)[];
  /** What is pending within it. */
  readonly pending: readonly Pending[];
  readonly hasNext: boolean;
}

export interface DeferredExecutionOptions {
  readonly request: ExecutionRequest & { readonly operation: Operation & { readonly deferred: CompiledDeferred } };
  readonly program: DeferredProgram;
  /** For one object after the other. */
  readonly buffer: Buffer;
  /** The most bytes of all data. */
  readonly maxBytes: number;
}

/** `errors` are those of writing itself. */
interface Written extends Delivery {
  readonly faults: readonly ValueFault[];
  readonly value: unknown;
}

/** The fetches of a part. */
interface PartFetches {
  readonly errors: ExecutionErrors;
  isComplete: boolean;
  onComplete: () => void;
}

export class DeferredExecution {
  readonly #options: DeferredExecutionOptions;
  readonly #data: Data = {};
  /** Parts that have begun and are not delivered. */
  #open = 0;
  /** Pending objects so far, which is also the next id. */
  #count = 0;
  /** Bytes of all data so far. */
  #bytes = 0;
  /** The buffer of the last part; the writer may have replaced it by a larger one. */
  #buffer: Buffer;
  #overflow: ResultError[] = [];
  readonly #delivered = new DeliveredValues();
  readonly #nulled: Nulled[] = [];
  readonly #begun = new Map<number, PartFetches>();
  /** The parts below the first response, until {@link rest} begins them. */
  #started: (readonly [number, readonly Pending[]])[] = [];

  constructor(options: DeferredExecutionOptions) {
    this.#options = options;
    this.#buffer = options.buffer;
  }

  /** What the fetches so far have brought. */
  get data(): Data {
    return this.#data;
  }

  /** Calls back once, with the first response. Nothing is pending where no fragment is deferred. */
  first(done: (delivery: Delivery, pending: readonly Pending[]) => void): void {
    const { program, request } = this.#options;
    const errors = this.#newErrors();
    this.#runWithPlain(program.plan, { index: -1, errors }, () => {
      const root: Target = { object: this.#data, delivered: undefined, path: [] };
      const written = this.#write(request.operation.deferred.first, root, errors);
      const found = [...errors.complete(written.faults), ...written.errors];
      this.#deliver(root, { ...written, errors: found });
      this.#started = this.#prepare(-1, [{ ...root, delivered: written.value }]);
      done(
        { data: written.data, errors: [...found.map(toClientError), ...this.#takeOverflow()] },
        this.#started.flatMap(([, targets]) => targets),
      );
    });
  }

  /** Executes the parts; calls back for each, the last one without `hasNext`. */
  rest(done: (part: CompletedPart) => void): void {
    for (const [index, targets] of this.#started.splice(0)) this.#runPart(index, targets, done);
  }

  #runPart(index: number, targets: readonly Pending[], done: (part: CompletedPart) => void): void {
    const fetches = this.#begin(index);
    const { errors } = fetches;
    const finish = () => {
      const write = this.#options.request.operation.deferred.parts[index] as CompiledDeferred['first'];
      for (const each of this.#nulled) setNull(each);
      const written = targets.map((target) => this.#write(write, target, errors));
      const found = errors.complete(written.flatMap(({ faults }) => faults));
      const byTarget = assign([...found, ...written.flatMap((each) => each.errors)], targets);
      const delivered = targets.map((target, i) => {
        const { data, value } = this.#deliver(target, { ...(written[i] as Written), errors: byTarget[i] ?? [] });
        return { target, data, value };
      });
      const objects = delivered.map(({ target, data }, i) => ({ ...target, data, errors: (byTarget[i] ?? []).map(toClientError) }));
      const started = this.#prepare(
        index,
        delivered.map(({ target, value }) => ({ ...target, delivered: value })),
      );
      objects[0]?.errors.push(...this.#takeOverflow());
      this.#open--;
      done({ objects, pending: started.flatMap(([, each]) => each), hasNext: this.#open > 0 });
      for (const [inner, each] of started) this.#runPart(inner, each, done);
    };
    if (fetches.isComplete) finish();
    else fetches.onComplete = finish;
  }

  /** Starts the fetches of a part, unless they were started. */
  #begin(index: number): PartFetches {
    const begun = this.#begun.get(index);
    if (begun) return begun;
    const fetches: PartFetches = { errors: this.#newErrors(), isComplete: false, onComplete: () => undefined };
    this.#begun.set(index, fetches);
    const { plan } = this.#options.program.parts[index] as DeferredPart;
    this.#runWithPlain(plan, { index, errors: fetches.errors }, () => {
      fetches.isComplete = true;
      fetches.onComplete();
    });
    return fetches;
  }

  readonly #beginEarly = (index: number): void => {
    const part = this.#options.program.parts[index] as DeferredPart;
    if (this.#isDeferred(part) && this.#isIncluded(part)) this.#begin(index);
  };

  /** Returns the parts within a delivered one that have objects, and counts them as open. */
  #prepare(parent: number, delivered: readonly Target[]): (readonly [number, readonly Pending[]])[] {
    const { parts } = this.#options.program;
    const skipped = parent < 0 ? 0 : (parts[parent] as DeferredPart).path.length;
    return parts.flatMap((part, index) => {
      if (!this.#isDeferred(part) || this.#parentOf(part) !== parent || !this.#isIncluded(part)) return [];
      const all = delivered.flatMap((each) => findTargets(part, each, skipped));
      const found = all.slice(0, MAX_TARGETS - this.#count);
      if (found.length < all.length) this.#overflow = [TOO_MANY];
      if (found.length === 0) return [];
      this.#open++;
      const pending = found.map((each) => ({ ...each, id: String(this.#count++), label: part.label }));
      return [[index, pending] as const];
    });
  }

  /** Returns the part around a part that is deferred itself. */
  #parentOf({ parent }: DeferredPart): number {
    const around = this.#options.program.parts[parent];
    return around && !this.#isDeferred(around) ? this.#parentOf(around) : parent;
  }

  #isDeferred({ variable }: DeferredPart): boolean {
    return variable === undefined || this.#options.request.conditions[variable] === true;
  }

  #isIncluded({ when, parent }: DeferredPart): boolean {
    const { conditions } = this.#options.request;
    const around = this.#options.program.parts[parent];
    return when.every(({ variable, isTrue }) => conditions[variable] === isTrue) && (!around || this.#isIncluded(around));
  }

  /** Runs a plan, and then those of the fragments within that are not deferred for these variables. */
  #runWithPlain(plan: PlanStep | undefined, at: { index: number; errors: ExecutionErrors }, done: () => void): void {
    const { parts } = this.#options.program;
    const plain = parts.flatMap((part, index) => (part.parent === at.index && !this.#isDeferred(part) ? [{ part, index }] : []));
    this.#run(plan, at.errors, () => {
      let open = plain.length;
      if (open === 0) done();
      for (const { part, index } of plain)
        this.#runWithPlain(part.plan, { index, errors: at.errors }, () => {
          if (--open === 0) done();
        });
    });
  }

  #run(plan: PlanStep | undefined, errors: ExecutionErrors, done: () => void): void {
    const { request, program } = this.#options;
    const { operation } = request;
    const { collect, represent } = operation.deferred;
    const own = { program: { ...operation.program, plan }, compiled: { ...operation.compiled, collect, represent } };
    new Execution(
      { ...request, operation: own, begin: this.#beginEarly },
      { data: this.#data, errors, interfaces: program.interfaces },
    ).start(() => {
      done();
    });
  }

  #write(write: CompiledDeferred['first'], { object, path }: Target, errors: ExecutionErrors): Written {
    const { request, maxBytes } = this.#options;
    const faults: ValueFault[] = [];
    const noteMissing: ExecutionErrors['noteMissing'] = (below) => {
      errors.noteMissing([...path, ...below]);
    };
    try {
      const left = Math.max(0, maxBytes - this.#bytes);
      const { conditions } = request;
      const { bytes, length } = write(object, { conditions, introspection: {}, buffer: this.#buffer, maxBytes: left, faults, noteMissing });
      this.#bytes += length;
      this.#buffer = bytes;
      const data = bytes.toString('utf8', DATA_AT, length);
      return { data, value: JSON.parse(data), errors: [], faults: faults.map((each) => ({ ...each, path: [...path, ...each.path] })) };
    } catch (error) {
      if (!(error instanceof RangeError) || error.message !== TOO_LARGE) throw error;
      const message = `The response exceeds the limit of ${String(maxBytes)} bytes. Select fewer fields or smaller pages.`;
      const tooLarge: ResultError = { message, ...(path.length > 0 && { path }), extensions: { code: 'VALIDATION_ERROR' } };
      return { data: 'null', value: null, errors: [tooLarge], faults: [] };
    }
  }

  /**
   * Notes what the client gets. Returns a part without data when the part would take back an object that the client has: later parts, and those that are
   * pending below the object, need it.
   */
  #deliver(target: Target, written: Written): Written {
    const { value, faults, errors } = written;
    const paths = [...faults, ...errors].flatMap(({ path }) => (path ? [path] : []));
    const nulled = value === null ? [] : findNulled(value, target, paths);
    if (nulled.some(({ path }) => this.#delivered.has(path))) return { ...written, data: 'null', value: null };
    this.#nulled.push(...nulled);
    if (value !== null) this.#delivered.add(target.path, value);
    return written;
  }

  /** Returns an error once after {@link MAX_TARGETS} was exceeded: the client must not take the result for complete. */
  #takeOverflow(): ResultError[] {
    const overflow = this.#overflow;
    this.#overflow = [];
    return overflow;
  }

  #newErrors(): ExecutionErrors {
    return new ExecutionErrors(this.#options.request.operation.program);
  }
}

const TOO_MANY: ResultError = {
  message: `The deferred fragments have more than ${String(MAX_TARGETS)} objects. Those after them are left out: select smaller pages.`,
  extensions: { code: 'VALIDATION_ERROR' },
};

/** The offset of the data in what the code writes: `{"data":…`. */
const DATA_AT = 8;

/** Gives each error to the object that its path is below; one without such a path to the first object. */
function assign(errors: readonly ResultError[], targets: readonly Target[]): ResultError[][] {
  const assigned = targets.map((): ResultError[] => []);
  if (errors.length === 0) return assigned;
  const indexes = new Map(targets.map(({ path }, i) => [JSON.stringify(path), i]));
  const length = targets[0]?.path.length ?? 0;
  for (const error of errors) {
    // The paths of all objects of a part have the same fields.
    const index = indexes.get(JSON.stringify(error.path?.slice(0, length)));
    assigned[index ?? 0]?.push(error);
  }
  return assigned;
}
