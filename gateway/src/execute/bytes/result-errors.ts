/**
 * Finds the errors of an assembled result, as the object executor does: those that subgraphs reported, at their paths in the result, and those of
 * fields that are missing; and makes null of what must not be without these (GraphQL §6.4.4).
 */
import type { FetchStep, Program, ValueFault, Written } from '../../program/program.ts';
import type { ErrorPath, ResultError } from '../../program/result.ts';
import { ExecutionErrors } from '../execution-errors.ts';
import type { AbsentMark, EntityMark, Marks, ReportedErrors } from './marks.ts';
import { ResultScan } from './result-scan.ts';

export interface ErrorSource {
  readonly marks: Marks;
  /** In the order in which they arrived. */
  readonly reports: readonly ReportedErrors[];
  readonly program: Pick<Program, 'shape' | 'source' | 'plan'>;
}

/** Returns the result, in the same buffer, and its errors. */
export function settleErrors(
  written: Written,
  { marks, reports, program }: ErrorSource,
): { readonly assembled: Written; readonly errors: readonly ResultError[] } {
  const places = findPlaces(written, marks.entities);
  const errors = new ExecutionErrors(program);
  for (const { step, errors: reported, isWhole } of reports) {
    const placesOf = (entity: number) => sortByPlace(step, places.get(`${step.index}.${entity}`) ?? []);
    errors.addReported(reported, { step, ...(step.entities && { placesOf }), isWhole });
  }
  // Fields that may be null matter only where failures explain them: there may be very many.
  const absent = errors.hasFailures ? marks.absent : marks.absent.filter(({ fault }) => fault !== undefined);
  if (absent.length === 0) return { assembled: written, errors: errors.finish([]) };
  const { missing, faults, length } = settleAbsent(written, absent);
  if (errors.hasFailures) for (const path of missing) errors.noteMissing(path);
  return { assembled: { bytes: written.bytes, length }, errors: errors.finish(faults) };
}

/** Returns the paths of entities with errors, by fetch and entity. */
function findPlaces({ bytes, length }: Written, marks: readonly EntityMark[]): ReadonlyMap<string, readonly ErrorPath[]> {
  const scan = new ResultScan(bytes, length);
  const places = new Map<string, ErrorPath[]>();
  for (const { at, fetch, entity } of marks) {
    scan.moveTo(at);
    addPlace(places, `${fetch}.${entity}`, scan.path());
  }
  return places;
}

interface Settled {
  /** The paths of fields that no fetch returned, but those in objects that are null. */
  readonly missing: readonly ErrorPath[];
  readonly faults: readonly ValueFault[];
  readonly length: number;
}

/** Makes null of what must not be without a field that is missing. */
function settleAbsent({ bytes, length }: Written, marks: readonly AbsentMark[]): Settled {
  const scan = new ResultScan(bytes, length);
  const missing: ErrorPath[] = [];
  const faults: ValueFault[] = [];
  for (const { at, key, fault, up } of marks) {
    scan.moveTo(at);
    if (scan.isCut) continue;
    const path = [...scan.path(), key];
    missing.push(path);
    if (fault === undefined) continue;
    faults.push({ message: fault, path });
    scan.cut(up);
  }
  return { missing, faults, length: scan.finish() };
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
