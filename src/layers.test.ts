/**
 * Every import of src against the table of layers.ts: static, dynamic, type-only, re-exports. Also: no cycle in the
 * table, no folder outside it, one file for /shaders, one place where the page names the worker.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { LAYERS, layerOf, refusal, SHADER_FILE, WORKER_FACTORY_FOLDER } from './layers';

const SRC = dirname(fileURLToPath(import.meta.url));
const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts'))
  .sort();
const isTest = (path: string): boolean => /\.(test|bench)\.tsx?$/.test(path);
/** Helpers of tests are named for what they are: `golden-*.ts`, `*-fixture.ts`. They count as tests, and only tests import them. */
const isTestSupport = (path: string): boolean => /(^|\/)golden-[^/]*\.ts$|-fixture\.tsx?$/.test(path);
const textOf = (path: string): string => readFileSync(join(SRC, path), 'utf8');

/** Module specifiers of a source text, as the compiler sees them, plus `import('x').T` types and `new URL('x', import.meta.url)`. */
function importsOf(text: string, path = 'x.ts'): { specifier: string; address: boolean }[] {
  const found: { specifier: string; address: boolean }[] = [];
  const visit = (node: ts.Node): void => {
    const add = (literal: ts.Node | undefined, address = false): void => {
      if (literal && ts.isStringLiteralLike(literal)) found.push({ specifier: literal.text, address });
    };
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) add(node.moduleSpecifier);
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) add(node.arguments[0]);
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal);
    if (ts.isNewExpression(node) && node.expression.getText() === 'URL' && node.arguments?.[1]?.getText() === 'import.meta.url') add(node.arguments[0], true);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS));
  return found;
}

/** Path below src that a relative specifier of `path` names; null when it leaves src. */
function target(path: string, specifier: string): string | null {
  const resolved = posix.normalize(posix.join(posix.dirname(path), specifier.replace(/\?.*$/, '')));
  return resolved.startsWith('../') ? null : resolved;
}

/** Everything that is wrong with one file's imports. */
function faults(path: string, text: string): string[] {
  const from = layerOf(path);
  if (from === null) return path.includes('/') ? [`${path}: its folder is not in the table of src/layers.ts`] : [];
  const test = isTest(path) || isTestSupport(path);
  return importsOf(text, path).flatMap(({ specifier, address }) => {
    if (!specifier.startsWith('.')) {
      if (address || test) return [];
      const name = specifier.startsWith('node:') ? 'node:' : specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
      return LAYERS[from]?.packages.includes(name) ? [] : [`${path}: ${from} may not import the package ${name}`];
    }
    const to = target(path, specifier);
    if (to === null) {
      // Data outside src (package.json, schemas) may be read by anyone, code may not; tests read goldens by address.
      return address || specifier.endsWith('.json') ? [] : [`${path}: ${specifier} leaves src`];
    }
    if (!test && isTestSupport(`${to}.ts`)) return [`${path}: only tests import ${to}`];
    // A folder named alone is its index file.
    const layer = layerOf(`${to}/index`);
    if (layer === null) return [`${path}: ${specifier} is not in a layer`];
    if (address && from === WORKER_FACTORY_FOLDER && layer === 'worker') return [];
    const reason = refusal(from, layer, test);
    return reason === null ? [] : [`${path}: ${specifier}: ${reason}`];
  });
}

test('every import obeys the table', () => {
  expect(FILES.length).toBeGreaterThan(40);
  expect(FILES.flatMap((path) => faults(path, textOf(path)))).toEqual([]);
});

test('every folder of src is in the table', () => {
  const folders = readdirSync(SRC, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name);
  expect(folders.filter((name) => !Object.hasOwn(LAYERS, name))).toEqual([]);
});

test('the table has no cycle, and no page layer reaches a worker layer or the reverse', () => {
  const reach = (name: string, path: readonly string[] = []): Set<string> => {
    expect(path, `cycle through ${name}`).not.toContain(name);
    const layer = LAYERS[name];
    expect(layer, name).toBeDefined();
    return new Set(layer?.imports.flatMap((to) => [to, ...reach(to, [...path, name])]));
  };
  for (const [name, { colour }] of Object.entries(LAYERS)) {
    const colours = new Set([...reach(name)].map((to) => LAYERS[to]?.colour));
    if (colour !== 'worker') expect(colours.has('worker'), name).toBe(false);
    if (colour !== 'page') expect(colours.has('page'), name).toBe(false);
  }
});

test('one file touches /shaders', () => {
  const touching = FILES.filter((path) => !isTest(path) && !isTestSupport(path) && /['"`][./]*\/shaders\//.test(textOf(path)));
  expect(touching).toEqual([SHADER_FILE]);
});

test('at most one file names the worker by its address, and it is in the bridge', () => {
  const naming = FILES.filter((path) => layerOf(path) !== 'worker' && importsOf(textOf(path), path).some(({ specifier, address }) => address && target(path, specifier)?.startsWith('worker/')));
  expect(naming.length).toBeLessThanOrEqual(1);
  expect(naming.map(layerOf).every((layer) => layer === WORKER_FACTORY_FOLDER)).toBe(true);
});

test.each([
  ['base/a.ts', "import { x } from '../graph/types';", /base may import nothing, not graph/],
  ['ui/a.tsx', "import type { Gpu } from '../gpu/gpu';", /not gpu/],
  ['ui/charts/a.tsx', "import { store } from '../../state/store';", /ui\/charts may import base, not state/],
  ['state/a.ts', "const m = await import('../worker/main');", /not worker/],
  ['engine/a.ts', "export { parse } from '../data/safetensors';", /not data/],
  ['graph/a.ts', "let t: import('../engine/values').Values;", /not engine/],
  ['app/a.tsx', "new Worker(new URL('../worker/main.ts', import.meta.url));", /not worker/],
  ['ui/a.tsx', "import { useEffect } from 'react'; import d3 from 'd3';", /the package d3/],
  ['engine/a.ts', "import { readFileSync } from 'node:fs';", /the package node:/],
  ['ui/a.test.tsx', "import { Gpu } from '../gpu/gpu';", /not gpu/],
  ['state/a.ts', "import { Axis } from '../ui/charts';", /not ui\/charts/],
  ['ui/a.ts', "import { LAYERS } from '../layers';", /not in a layer/],
  ['ui/a.ts', "import x from '../../e2e/x';", /leaves src/],
  ['numerics/a.ts', "import { golden } from './golden-formats';", /only tests/],
  ['utils/a.ts', '', /not in the table/],
])('%s with %s is refused', (path, text, reason) => {
  expect(faults(path, text).join('\n')).toMatch(reason);
});

test.each([
  ['bridge/client.ts', "new Worker(new URL('../worker/main.ts', import.meta.url)); import * as C from 'comlink';"],
  ['engine/a.test.ts', "import { open } from '../data/safetensors'; import { readFileSync } from 'node:fs';"],
  ['cli/a.ts', "import p from '../../package.json'; import { x } from '../worker/run-store';"],
  ['ui/charts/a.tsx', "import { scaleLog } from 'd3'; import { angle } from '../../base/angle'; import './axis.css';"],
  ['ui/a.tsx', "import { Axis } from './charts/axis'; import { store } from '../state/store';"],
  ['ui/deep/a.tsx', "import { store } from '../../state'; import { Axis } from '../charts';"],
])('%s with %s is allowed', (path, text) => {
  expect(faults(path, text)).toEqual([]);
});
