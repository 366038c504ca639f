/** Makes a program executable in the serving thread. */
import type { Compiled, Program } from './program.ts';

/** An operation that can be executed any number of times, also concurrently. */
export interface Operation {
  readonly program: Program;
  readonly compiled: Compiled;
}

/** Compiles the code of a program. */
export function link(program: Program): Operation {
  // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call -- the planner writes this code from names of the validated schema and escaped literals only (plan/literals.ts)
  return { program, compiled: new Function(program.code)() as Compiled };
}

/** Compiles the expression of an estimated cost alone. */
export function compileCost(expression: string): Compiled['cost'] {
  // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call -- as above
  return new Function(`return ${expression};`)() as Compiled['cost'];
}
