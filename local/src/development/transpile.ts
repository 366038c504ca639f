/** Transpiles single files as `tsc -b` does, without a check of types. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import ts from 'typescript';

/** The outcome for one source file. */
export interface Transpiled {
  /** Whether the code that runs is another one now. */
  readonly isChanged: boolean;
  /** Syntax errors, as `file:line:column message`; the output is left as it was. */
  readonly problems: readonly string[];
}

/** Writes `dist/….js` of a `src/….ts` and its source map, or removes them when the source has been removed. */
export async function transpileFile(file: string, root: string): Promise<Transpiled> {
  const target = file.replace(/\/src\/(?!.*\/src\/)/, '/dist/').replace(/\.ts$/, '.js');
  if (!existsSync(file)) {
    const isChanged = existsSync(target);
    await rm(target, { force: true });
    return { isChanged, problems: [] };
  }
  const { outputText, sourceMapText, diagnostics } = ts.transpileModule(await readFile(file, 'utf8'), {
    fileName: file,
    reportDiagnostics: true,
    // The options of a single file: what it imports is not read.
    compilerOptions: { ...readOptions(root), module: ts.ModuleKind.ESNext, noEmit: false, composite: false, declaration: false },
  });
  const problems = (diagnostics ?? []).filter(({ category }) => category === ts.DiagnosticCategory.Error);
  if (problems.length > 0) return { isChanged: false, problems: problems.map((problem) => formatProblem(problem, root)) };
  const before = await readFile(target, 'utf8').catch(() => undefined);
  if (before === outputText) return { isChanged: false, problems: [] };
  await mkdir(dirname(target), { recursive: true });
  if (sourceMapText !== undefined) await writeFile(`${target}.map`, toSourceMap(sourceMapText, relative(dirname(target), file)));
  await writeFile(target, outputText);
  return { isChanged: true, problems: [] };
}

let known: ts.CompilerOptions | undefined;

function readOptions(root: string): ts.CompilerOptions {
  if (known) return known;
  const file = join(root, 'tsconfig.base.json');
  const { config } = ts.readConfigFile(file, (path) => ts.sys.readFile(path)) as { config: { compilerOptions: object } };
  known = ts.convertCompilerOptionsFromJson(config.compilerOptions, root).options;
  return known;
}

function toSourceMap(text: string, source: string): string {
  return JSON.stringify({ ...(JSON.parse(text) as object), sources: [source] });
}

function formatProblem({ file, start = 0, messageText }: ts.Diagnostic, root: string): string {
  const message = ts.flattenDiagnosticMessageText(messageText, ' ');
  if (!file) return message;
  const { line, character } = file.getLineAndCharacterOfPosition(start);
  return `${relative(root, file.fileName) || basename(file.fileName)}:${String(line + 1)}:${String(character + 1)} ${message}`;
}
