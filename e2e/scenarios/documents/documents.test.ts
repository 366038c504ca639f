/** Every page of the repository: its links, the paths and commands that it names, the clauses that are cited, and its form. */
import { posix } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { type Page, parsePage } from './markdown.ts';
import { listDirectories, listFiles, read } from './repository.ts';

const MAX_LINE = 120;
const MAX_README_LINES = 120;

const files = listFiles();
const known = new Set([...files, ...listDirectories(files)]);
const names = new Set([...known].map((path) => posix.basename(path)));
const topLevel = new Set([...known].map((path) => path.split('/', 1)[0] ?? ''));
const pages = new Map<string, Page>(files.filter((file) => file.endsWith('.md')).map((file) => [file, parsePage(read(file))]));
const pathsOf = (page: Page) => page.spans.filter((span) => isPath(span));
const on = (check: (page: Page, file: string) => readonly string[]) =>
  [...pages].flatMap(([file, page]) => check(page, file).map((fault) => `${file}: ${fault}`));

describe('every page', () => {
  it('has links that lead to files and headings of the repository', () => {
    const faults = on(({ links }, file) => links.filter((target) => !/^[a-z]+:/.test(target) && !leadsSomewhere(target, file)));
    expect(faults).toEqual([]);
  });

  it('names paths that exist', () => {
    expect(on((page) => pathsOf(page).filter((path) => !exists(path)))).toEqual([]);
  });

  it(`has lines of at most ${String(MAX_LINE)} characters outside tables and code`, () => {
    const isLong = (text: string) => text.length > MAX_LINE && !/^\[[^\]]+\]: \S+$/.test(text);
    expect(on(({ prose }) => prose.filter(({ text }) => isLong(text)).map(({ line }) => `line ${String(line)}`))).toEqual([]);
  });

  it('names tarballs to npm by paths that begin with a dot: `folder/file.tgz` is a repository of GitHub to it', () => {
    const faults = on(({ blocks }) =>
      blocks.flatMap(({ code }) =>
        Array.from(code.matchAll(/(?:npm install|npx)[^\n]*/g), ([command]) => command)
          .flatMap((command) => command.split(/\s+/))
          .filter((word) => word.endsWith('.tgz') && !word.startsWith('.')),
      ),
    );
    expect(faults).toEqual([]);
  });

  it('names npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> };
    const faults = on(({ spans, blocks }) =>
      [...spans, ...blocks.map(({ code }) => code)]
        .flatMap((text) => Array.from(text.matchAll(/npm run (?:--silent )?([\w:-]+)/g), ([, script = '']) => script))
        .filter((script) => !Object.hasOwn(scripts, script)),
    );
    expect(faults).toEqual([]);
  });
});

describe('the code in pages', () => {
  it('imports what the packages of this repository export', () => {
    const faults = on(({ blocks }) =>
      blocks
        .filter(({ language }) => language === 'ts')
        .flatMap(({ code }) => Array.from(code.matchAll(IMPORT), ([, list = '', from = '']) => findMissing(list, from)).flat()),
    );
    expect(faults).toEqual([]);
  });
});

describe('the sources', () => {
  it('name pages that exist', () => {
    const sources = files.filter((file) => /\.(?:ts|mjs|sh|yml|graphql)$/.test(file));
    const named = sources.flatMap((file) => Array.from(read(file).matchAll(/\b[\w-]+\.md\b/g), ([name]) => ({ file, name })));
    expect(named.filter(({ name }) => !names.has(name))).toEqual([]);
  });
});

describe('README.md', () => {
  it(`has at most ${String(MAX_README_LINES)} lines`, () => {
    expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(MAX_README_LINES);
  });
});

describe('docs/specification.md', () => {
  const CLAUSES = 'docs/specification.md';
  const defined = new Set(
    Array.from(
      read(CLAUSES).matchAll(/^(?:#+ |- \*\*)(Spec|Contract) §(\d+(?:\.\d+)*)/gm),
      ([, of = '', number = '']) => `${of} §${number}`,
    ),
  );

  it('has every clause of the specification and the contract that comments, tests and pages cite', () => {
    const sources = files.filter((file) => /\.(?:ts|mjs|graphql|sql|prisma|md)$/.test(file) && file !== CLAUSES);
    const cited = sources.flatMap((file) => readCitations(read(file)).map((clause) => ({ file, clause })));
    expect(cited.filter(({ clause }) => !defined.has(clause))).toEqual([]);
    expect(new Set(cited.map(({ clause }) => clause)).size).toBeGreaterThan(30);
  });
});

const IMPORT = /import (?:type )?\{([^{}]*)\} from '(@trestle\/[\w/-]+)'/g;

/** Names that the module does not export; the module itself when there is none. */
function findMissing(list: string, from: string): string[] {
  const [, name = '', ...rest] = from.split('/');
  const home = ['packages', 'subgraphs', '.'].map((folder) => posix.join(folder, name)).find((folder) => known.has(folder));
  const file = `${home ?? name}/src/${rest.join('/') || name}.ts`;
  if (!known.has(file)) return [`${from} is no module`];
  const source = read(file);
  const isExported = (imported: string) =>
    new RegExp(`^export (?:async )?(?:const|function|class|interface|type) ${imported}\\b`, 'm').test(source);
  const wanted = list
    .split(',')
    .map((each) => each.trim().replace(/^type /, ''))
    .filter((each) => each !== '');
  return wanted.filter((imported) => !isExported(imported)).map((imported) => `${from} does not export ${imported}`);
}

/** Whether a relative link, with or without a heading, leads to something. */
function leadsSomewhere(target: string, from: string): boolean {
  const [path = '', anchor] = target.split('#', 2);
  const file = path === '' ? from : posix.join(posix.dirname(from), path).replace(/\/$/, '');
  if (!known.has(file)) return false;
  return anchor === undefined || pages.get(file)?.anchors.has(anchor) === true;
}

/** Whether a code span can only be a path: it begins at the top of the repository, or ends as our files do. */
function isPath(span: string): boolean {
  if (!/^[\w.@*<>{},/-]+$/.test(span) || span.startsWith('/')) return false;
  if (span.includes('/')) return topLevel.has(span.split('/', 1)[0] ?? '');
  // A dot and one word is the ending of a file's name.
  return /\.(?:ts|mjs|graphql|sql|prisma|md|yml|env)$/.test(span) && !/^\.(?:env|\w+$)/.test(span);
}

/** `<name>` and `*` stand for anything but a slash, `{a,b}` for each of the two; what is built stands for its source. */
function exists(path: string): boolean {
  const source = path.replace(/\/$/, '').replace(/\/dist\/(.*)\.js$/, '/src/$1.ts');
  const all = source.includes('/') ? known : names;
  return expand(source).every((one) => {
    if (!/[<*]/.test(one)) return all.has(one);
    const pattern = one.split(/<[^<>]*>|\*/).map((part) => part.replace(/[.\\+?^$()|[\]{}]/g, '\\$&'));
    const expression = new RegExp(`^${pattern.join('[^/]*')}$`);
    return [...all].some((file) => expression.test(file));
  });
}

function expand(path: string): string[] {
  const [whole, choices] = /\{([^{}]*)\}/.exec(path) ?? [];
  if (whole === undefined || choices === undefined) return [path];
  return choices.split(',').flatMap((choice) => expand(path.replace(whole, choice)));
}

const CITATION = /\b(spec|contract) (§[\d.]+(?:(?:, | and | to |–)§[\d.]+)*)/gi;
/** Routes name their clause as data. */
const CLAUSE_OF_ROUTE = /\bspec(?:: | = )'(§[\d.]+)'/g;

function readCitations(text: string): string[] {
  const numbersOf = (list: string) => list.match(/\d+(?:\.\d+)*/g) ?? [];
  return [
    ...Array.from(text.matchAll(CITATION), ([, of = '', list = '']) => {
      const document = of.toLowerCase() === 'spec' ? 'Spec' : 'Contract';
      return numbersOf(list).map((number) => `${document} §${number}`);
    }).flat(),
    ...Array.from(text.matchAll(CLAUSE_OF_ROUTE), ([, clause = '']) => `Spec ${clause}`),
  ];
}
