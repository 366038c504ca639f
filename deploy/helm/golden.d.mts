/** Types of golden.mjs, for its test. */
export interface GoldenFile {
  readonly name: string;
  readonly path: string;
  readonly values: readonly string[];
  readonly sources: string;
}
export function listGoldenFiles(): GoldenFile[];
export function renderAll(files: readonly GoldenFile[]): readonly Buffer[] | undefined;
export function toGoldenText(rendered: Buffer | string, sources: string): string;
