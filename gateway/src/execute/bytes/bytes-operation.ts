/** An operation that is ready to be executed on bytes, with what was learned from its executions. */
import type { BytesProgram, Hole, Walk } from '../../program/bytes-program.ts';
import type { Operation } from '../../program/operation.ts';
import type { Compiled } from '../../program/program.ts';
import { SCANNERS } from './scanners.ts';

/** A representation's texts as bytes; a value goes between each two. */
export interface RepresentationBytes {
  readonly texts: readonly Buffer[];
  /** The bytes of all texts. */
  readonly length: number;
}

/** The most executions with objects after responses that differ from the requests. */
const MAX_PAUSE = 1023;

export class BytesOperation {
  readonly program: BytesProgram;
  readonly walks: readonly Walk[];
  readonly holes: readonly Hole[];
  readonly constants: Buffer;
  readonly argumentCosts: Compiled['argumentCosts'];
  /** By fetch and type. */
  readonly representations: readonly (readonly RepresentationBytes[])[];
  /** The size class of the arena that the last execution needed. */
  sizeClass = 0;
  /** The fetches whose last responses had white space between tokens. */
  readonly spaced = new Set<number>();
  /** About the length of a result. */
  resultBytes = 0;
  #pause = 0;
  #pauseLeft = 0;

  private constructor(program: BytesProgram, { walkers, argumentCosts }: Compiled) {
    this.program = program;
    this.walks = walkers(SCANNERS);
    this.argumentCosts = argumentCosts;
    this.holes = program.holes;
    this.constants = Buffer.from(program.constants, 'latin1');
    this.representations = program.fetches.map(({ representations = [] }) =>
      representations.map((each) => {
        const texts = each.texts.map((text) => Buffer.from(text));
        return { texts, length: texts.reduce((sum, { length }) => sum + length, 0) };
      }),
    );
  }

  /** Returns null for an operation that only the object executor supports. */
  static link({ program, compiled }: Operation): BytesOperation | null {
    return program.bytes ? new BytesOperation(program.bytes, compiled) : null;
  }

  /** Returns the conditions of an execution as bits. */
  conditionsOf(values: Readonly<Record<string, unknown>>): number {
    let bits = 0;
    for (const [bit, name] of this.program.conditions.entries()) if (values[name] === true) bits |= 1 << bit;
    return bits;
  }

  /** Whether to try: after responses that differed from the requests, as subgraphs of another style send, most executions use objects. */
  isReady(): boolean {
    if (this.#pauseLeft === 0) return true;
    this.#pauseLeft--;
    return false;
  }

  noteSuccess(sizeClass: number, resultBytes: number): void {
    this.sizeClass = sizeClass;
    this.resultBytes = Math.max(resultBytes, this.resultBytes - (this.resultBytes >> 4));
    this.#pause >>= 1;
  }

  /** Notes a response that differed. */
  noteDifference(): void {
    this.#pause = Math.min(2 * this.#pause + 1, MAX_PAUSE);
    this.#pauseLeft = this.#pause;
  }
}
