/** Makes a program executable in the serving thread. */
import { setFlagsFromString } from 'node:v8';
import { compileFunction } from 'node:vm';
import type { CompiledDeferred, DeferrableProgram } from './deferred-program.ts';
import type { Compiled } from './program.ts';

/** An operation that can be executed any number of times, also concurrently. */
export interface Operation {
  readonly program: DeferrableProgram;
  readonly compiled: Compiled;
  /** Undefined for an operation without deferred fragments. */
  readonly deferred?: CompiledDeferred | undefined;
}

/** Compiles the code of a program. */
export function link(program: DeferrableProgram): Operation {
  const compiled = compile(program.code) as Compiled;
  return program.deferred ? { program, compiled, deferred: compile(program.deferred.code) as CompiledDeferred } : { program, compiled };
}

/** Compiles the expression of an estimated cost alone. */
export function compileCost(expression: string): Compiled['cost'] {
  return compile(`return ${expression};`) as Compiled['cost'];
}

/**
 * V8 would keep all compiled code in a cache that only a full heap empties: 60 KB for a body of 18 KB. With this flag the code is collected with its
 * operation. Before Node.js 22, `compileFunction` does not use that cache.
 */
setFlagsFromString('--no-compilation-cache');

/** Returns the result of a function body. The planner writes this code from names of the validated schema and escaped literals only (plan/literals.ts). */
function compile(body: string): unknown {
  return (compileFunction(body) as () => unknown)();
}
