/**
 * Finds the errors of an assembled result, as the object executor does: those that subgraphs reported, at their paths in the result, and those of
 * fields that are missing; and makes null of what must not be without these (GraphQL §6.4.4).
 */
import type { FetchStep, Shape, ValueFault } from '../../program/program.ts';
import type { ErrorPath, ResultError } from '../../program/result.ts';
import type { Written } from '../../program/program.ts';
import { ExecutionErrors } from '../execution-errors.ts';
import type { Marks, ReportedErrors } from './marks.ts';
import { ResultScan } from './result-scan.ts';

export interface ErrorSource {
  readonly marks: Marks;
  /** In the order in which they arrived. */
  readonly reports: readonly ReportedErrors[];
  readonly shape: Shape;
}

/** Returns the result, in the same buffer, and its errors. */
export function settleErrors(
  written: Written,
  source: ErrorSource,
): { readonly assembled: Written; readonly errors: readonly ResultError[] } {
  const { reports, shape } = source;
  const { places, missing, faults, length } = locate(written, source.marks);
  const errors = new ExecutionErrors(shape);
  for (const { step, errors: reported, isWhole } of reports) {
    const placesOf = (entity: number) => sortByPlace(step, places.get(`${step.index}.${entity}`) ?? []);
    errors.addReported(reported, { step, ...(step.entities && { placesOf }), isWhole });
  }
  if (errors.hasFailures) for (const path of missing) errors.noteMissing(path);
  return { assembled: { bytes: written.bytes, length }, errors: errors.finish(faults) };
}

interface Located {
  /** The paths of entities with errors, by fetch and entity. */
  readonly places: ReadonlyMap<string, readonly ErrorPath[]>;
  /** The paths of fields that no fetch returned, but those in objects that are null. */
  readonly missing: readonly ErrorPath[];
  readonly faults: readonly ValueFault[];
  readonly length: number;
}

/** Finds the paths of the marks, and makes null of what has a fault. */
function locate({ bytes, length }: Written, marks: Marks): Located {
  const scan = new ResultScan(bytes, length);
  const places = new Map<string, ErrorPath[]>();
  const missing: ErrorPath[] = [];
  const faults: ValueFault[] = [];
  for (const mark of marks.all) {
    scan.moveTo(mark.at);
    if (mark.kind === 'entity') addPlace(places, `${mark.fetch}.${mark.entity}`, scan.path());
    else if (!scan.isCut) {
      const path = [...scan.path(), mark.key];
      missing.push(path);
      if (mark.fault === undefined) continue;
      faults.push({ message: mark.fault, path });
      scan.cut(mark.up);
    }
  }
  return { places, missing, faults, length: scan.finish() };
}

/** An object has several holes for an entity where other fields stand between those of the entity. */
function addPlace(places: Map<string, ErrorPath[]>, entity: string, path: ErrorPath): void {
  const known = places.get(entity);
  if (!known) places.set(entity, [path]);
  else if (known.at(-1)?.join() !== path.join()) known.push(path);
}

/** Sorts the paths of an entity in the order of the places of its fetch. */
function sortByPlace({ places }: FetchStep, paths: readonly ErrorPath[]): readonly ErrorPath[] {
  if (places.length < 2 || paths.length < 2) return paths;
  const indexOf = (path: ErrorPath) =>
    places.findIndex(
      (place) => place.length === path.length && place.every(({ key }, i) => key === (typeof path[i] === 'number' ? '@' : path[i])),
    );
  return paths.toSorted((a, b) => indexOf(a) - indexOf(b));
}
