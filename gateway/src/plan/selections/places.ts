/** Reads the path of a fetch in the planner's notation, and generates the code that finds the objects at this path. */
import type { ResponsePath } from '@apollo/query-planner';
import type { Place, PlaceSegment } from '../../program/program.ts';
import { quote, read } from './literals.ts';

/** A segment with `typeConditionedFetching`: `name|[Type,Other]`, and `@|[Type]` for the elements of a list. */
const SEGMENT = /^(?<key>[^|]*)(?:\|\[(?<types>[^\]]*)\])?$/;

/**
 * Returns the place that `path` names, below `parent`. `namesOf` gives every name that an object of a type may have as its `__typename`.
 * Throws for a segment that is not known here.
 */
export function readPlace(parent: Place, path: ResponsePath, namesOf: (type: string) => readonly string[]): Place {
  const own = path.flatMap((segment): PlaceSegment[] => {
    const { key, types } = SEGMENT.exec(String(segment))?.groups ?? {};
    if (key === undefined) throw new Error(`The plan has a path that is not known here: ${JSON.stringify(path)}`);
    // The root of the result, which has one type only.
    if (key === '') return [];
    return [{ key, ...(types !== undefined && { types: [...new Set(types.split(',').flatMap(namesOf))] }) }];
  });
  return [...parent, ...own];
}

/** Returns a string that is equal for places with the same path, whatever the types on it. */
export function pathKey(place: Place): string {
  return place.map(({ key }) => key).join('\n');
}

/** Groups places by their paths. */
export function groupByPath(places: readonly Place[]): Place[][] {
  const groups = new Map<string, Place[]>();
  for (const place of places) groups.set(pathKey(place), [...(groups.get(pathKey(place)) ?? []), place]);
  return [...groups.values()];
}

/** Returns the places of one path, each once. Places that differ only in the types at one segment are merged. */
export function joinPlaces(places: readonly Place[]): Place[] {
  const joined: Place[] = [];
  for (const place of places) {
    const at = joined.findIndex((known) => differencesOf(known, place).length <= 1);
    const known = joined[at];
    if (!known) {
      joined.push(place);
      continue;
    }
    const [segment] = differencesOf(known, place);
    if (segment === undefined) continue;
    joined[at] = known.map((each, i) => {
      const [own, other] = [each.types, place[i]?.types];
      if (i !== segment) return each;
      return { key: each.key, ...(own && other && { types: [...new Set([...own, ...other])] }) };
    });
  }
  return joined;
}

/** Returns the segments at which two places with the same keys have different types. */
function differencesOf(a: Place, b: Place): number[] {
  return a.flatMap(({ types }, i) => (String(types) === String(b[i]?.types) ? [] : [i]));
}

/**
 * Whether an object at `place` must not be shared between two places, because the fetches at `others` depend on the types of the objects around it:
 * one response key may stand for different fields there.
 */
export function dependsOnTypes(place: Place, others: readonly Place[]): boolean {
  return others.some((other) => {
    const common = Math.min(place.length, other.length);
    for (let i = 0; i < common; i++) if (place[i]?.key !== other[i]?.key) return false;
    return other.some(({ types }, i) => i < place.length - 1 && types !== undefined && String(types) !== String(place[i]?.types));
  });
}

/** Generates a {@link Compiled.collect} function: nested loops that find every object at the places. */
export function generateCollector(places: readonly Place[]): string {
  return `(d,found,parents,keys)=>{${places.map(generateLoops).join('')}}`;
}

function generateLoops(place: Place): string {
  let code = '';
  let close = '';
  let value = 'd';
  let at = 'null,null';
  place.forEach(({ key, types }, depth) => {
    const next = `x${String(depth)}`;
    const isOther =
      types === undefined ? '' : `${next}.__typename!==undefined${types.map((name) => `&&${next}.__typename!==${quote(name)}`).join('')}`;
    if (key === '@') {
      const i = `i${String(depth)}`;
      const test = isOther && `||${isOther}`;
      code += `if(Array.isArray(${value}))for(let ${i}=0;${i}<${value}.length;${i}++){const ${next}=${value}[${i}];if(${next}==null${test})continue;`;
      at = `${value},${i}`;
    } else {
      const test = isOther && `&&!(${isOther})`;
      code += `if(typeof ${value}==='object'){const ${next}=${read(value, key)};if(${next}!=null${test}){`;
      at = `${value},${quote(key)}`;
      close = `}${close}`;
    }
    close = `}${close}`;
    value = next;
  });
  const comma = at.lastIndexOf(',');
  const found = `if(typeof ${value}==='object'&&!Array.isArray(${value})){found.push(${value});if(parents){parents.push(${at.slice(0, comma)});keys.push(${at.slice(comma + 1)});}}`;
  return `${code}${found}${close}`;
}
