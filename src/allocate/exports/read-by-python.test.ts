/**
 * The same files read by Python itself (e2e/golden/exports/read_exports.py): exported Python compiles without a warning and
 * runs against stubs that keep the targets' rules, YAML is read by PyYAML, patterns by re and fnmatch. Without python3, or
 * for YAML without PyYAML, skipped with that reason.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import type { PassScheme, PolicyOptions } from '../../graph/policy';
import type { Plan } from '../plan';
import type { ExportContext, Fit } from './export-target';
import { contextOf, mixedPlans, namesFile, plansOf, type Depth } from './golden-plans';
import { readingFaults, type Reading } from './golden-readers';
import type { PassFormats } from './rounding';
import { EXPORT_TARGETS } from './targets';

declare module 'vitest' {
  interface TaskMeta {
    /** Read by .ci/count.mjs. */
    skipReason?: string;
  }
}

const READER = fileURLToPath(new URL('../../../e2e/golden/exports/read_exports.py', import.meta.url));
const PYTHON = 'python3';
const has = (code: string): boolean => spawnSync(PYTHON, ['-c', code], { stdio: 'ignore' }).status === 0;
const noPython = has('pass') ? null : 'python3 is not installed';
const noYaml = noPython ?? (has('import yaml') ? null : 'PyYAML is not installed');

const folder = mkdtempSync(join(tmpdir(), 'bendscope-exports-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Case {
  readonly plan: Plan;
  readonly context: ExportContext;
  readonly fit: Fit;
  readonly file: string;
  readonly names: string;
}
type Answer = { readonly error: string } | { readonly layers: Readonly<Record<string, readonly [string, string, string] | null>> };

/** Options that change what is written, beside none. */
const SWITCHES: Readonly<Partial<Record<PassScheme, PolicyOptions>>> = { nvfp4: { rht: true, sr: true, weights1d: true }, fp8: { pow2: true }, mxfp8: { e5m2Grad: true, floor: true } };

function casesOf(id: string): Case[] {
  const target = EXPORT_TARGETS.find((row) => row.id === id)!;
  const cases: Case[] = [];
  const add = (plan: Plan, depth: Depth, low: PassScheme, options: PolicyOptions): void => {
    const context = contextOf(depth, low, options);
    const fit = target.fits(plan, context);
    if (fit.badge === 'cannot') return;
    const { text, fileName } = target.render(plan, context);
    const file = join(folder, `${id}-${cases.length}-${fileName}`);
    writeFileSync(file, text);
    cases.push({ plan, context, fit, file, names: fileURLToPath(namesFile(target.preset!, depth)) });
  };
  for (const low of ['nvfp4', 'fp8', 'fp8-block', 'mxfp8'] as const) {
    for (const plan of plansOf(12, low)) add(plan, 12, low, SWITCHES[low] ?? {});
  }
  for (const plan of mixedPlans(12)) add(plan, 12, 'nvfp4', {});
  for (const plan of plansOf(48, 'fp8').filter(({ name }) => /protection|random|1 high/.test(name))) add(plan, 48, 'fp8', {});
  return cases;
}

function faultsOf({ plan, context, fit }: Case, answer: Answer | undefined, id: string): string[] {
  if (answer === undefined || 'error' in answer) return [answer?.error ?? 'no answer'];
  const low = (word: string): string => (word === 'recipe' ? context.recipe : word);
  const found: Reading = new Map(Object.entries(answer.layers).map(([name, formats]) => [name, formats && ({ fprop: low(formats[0]), dgrad: low(formats[1]), wgrad: low(formats[2]) } as PassFormats)]));
  return readingFaults(found, plan, context, fit, EXPORT_TARGETS.find((row) => row.id === id)!.preset!);
}

describe.each([
  ['te-factory', noPython], ['torchao', noPython], ['torchao-float8', noPython], ['modelopt', noPython], ['te-debug', noYaml], ['megatron', noYaml],
] as const)('%s', (id, lacking) => {
  it('is read by Python as it was meant', (test) => {
    if (lacking !== null) {
      test.task.meta.skipReason = lacking;
      test.skip();
    }
    const cases = casesOf(id);
    const { stdout, stderr, status } = spawnSync(PYTHON, [READER], { input: JSON.stringify(cases.map(({ file, names }) => ({ target: id, file, names }))), encoding: 'utf8', maxBuffer: 1 << 28 });
    expect(stderr).toBe('');
    expect(status).toBe(0);
    const answers = JSON.parse(stdout) as Answer[];
    const faults = cases.flatMap((one, i) => faultsOf(one, answers[i], id).slice(0, 3).map((fault) => `${one.plan.name}, ${one.context.recipe}, ${one.context.graph.layers} layers: ${fault}`));
    expect(faults).toEqual([]);
    expect(cases.length).toBeGreaterThan(15);
  });
});
