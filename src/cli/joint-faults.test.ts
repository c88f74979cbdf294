/**
 * compare, how-much and verify on inputs that are wrong: each refused by its stable name, before a device is opened and without a
 * trace of an output. Probes here are made up.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AllocationFile } from '../allocate/allocation-schema';
import type { RecipeName } from '../graph/policy';
import { call, expectDone, NANO, NoDevices, Scratch } from './cli-fixture';
import { standardError, standing } from './compare-standing';
import type { ComparedPlan } from './compare-report';
import { report, writerIn } from './made-up-probe-fixture';

const devices = new NoDevices();
const scratch = new Scratch();
afterAll(() => scratch.dispose());

const write = writerIn(scratch);
const probe = (recipe: RecipeName, change: object = {}): string => write(report(recipe, change));

const OUT = scratch.path('out');
const [R, OUTS] = [probe('nvfp4'), probe('fp8-out')];
const T = write({ tokens: [[1, 2, 3]] });
const [PLAN, PLAN_OUTS, PLAN_1D] = [scratch.path('plan.json'), scratch.path('outs.json'), scratch.path('plan-1d.json')];
const plan = (): AllocationFile => JSON.parse(readFileSync(PLAN, 'utf8')) as AllocationFile;
const asked = (command: string, probes: readonly string[], more: readonly string[]): string[] => [command, '--model', NANO, '--tokens', T, ...probes.flatMap((path) => ['--probe', path]), '--out', OUT, ...more];
const compare = (probes: readonly string[] = [R], ...more: string[]): string[] => asked('compare', probes, more.some((word) => word === '--budgets') ? more : ['--budgets', '0.2', ...more]);
const howMuch = (probes: readonly string[] = [R], ...more: string[]): string[] => asked('how-much', probes, more.some((word) => word === '--target-deg') ? more : ['--target-deg', '5', ...more]);
const verify = (path: string, ...more: string[]): string[] => ['verify', '--model', NANO, '--tokens', T, '--plan', path, ...more];
const SITE = 'h.0.mlp.c_fc:fprop';

beforeAll(async () => {
  const allocate = (path: string, out: string): string[] => ['allocate', '--model', NANO, '--probe', path, '--budget', '0.5', '--out', out];
  expectDone(await call(allocate(R, PLAN), devices));
  expectDone(await call(allocate(OUTS, PLAN_OUTS), devices));
  expectDone(await call(allocate(probe('nvfp4', { options: { weights1d: true } }), PLAN_1D), devices));
});

const FAULTS: [what: string, argv: () => string[], code: string, message: RegExp][] = [
  ['no probe file', () => compare([scratch.path('none.json')]), 'E-FILE-09', /none\.json: expected a file/],
  ['a plan for a probe', () => compare([PLAN]), 'E-VER-01', /expected schema bendscope-probe\/1/],
  ['op groups beside passes', () => compare([R, OUTS]), 'E-PLAN-10', /expected probes of GEMM passes, got op groups \(fp8-out\) among several/],
  ['two probes of a recipe', () => howMuch([R, probe('nvfp4', { options: { rht: true } })]), 'E-PLAN-10', /expected one probe a recipe/],
  ['a cost of op groups', () => compare([R], '--cost', 'cache'), 'E-PLAN-09', /expected gemm, bits or time for GEMM passes, got cache/],
  ['tokens outside the vocabulary', () => ['compare', '--model', NANO, '--tokens', write({ tokens: [[1, 1024]] }), '--probe', R, '--budgets', '0.5', '--out', OUT], 'E-DATA-02', /Token 1024/],
  ['an output over a probe', () => ['compare', '--model', NANO, '--tokens', T, '--probe', R, '--budgets', '0.5', '--out', R], 'E-STO-04', /got the input/],
  ['a table over the result', () => compare([R], '--csv', OUT), 'E-STO-04', /expected outputs of their own, got .*out twice/],
  ['a journal over the tokens', () => compare([R], '--journal', T), 'E-STO-04', /got the input/],
  ['a table in no folder', () => compare([R], '--csv', scratch.path('none/c.csv')), 'E-STO-03', /no folder/],
  ['a damaged plan beside', () => compare([R], '--plans', write('{"schema":')), 'E-FILE-07', /is damaged/],
  ['a plan of op groups beside', () => compare([R], '--plans', PLAN_OUTS), 'E-PLAN-10', /expected a plan of GEMM passes as the probes are, got one of fp8-out/],
  ['a plan of other switches beside', () => compare([R], '--plans', PLAN_1D), 'E-PLAN-10', /expected options \{\} as the probes have them, got \{"weights1d":true\}/],
  ['a target below what is locked', () => howMuch([R], '--target-deg', '0.5', '--lock', write({ [SITE]: 'nvfp4' })), 'E-PLAN-11', /how-much: expected a plan with a bend of at most 0\.5 deg, got/],
  ['locks on no site', () => howMuch([R], '--lock', write({ 'h.9.*': 'bf16' })), 'E-PLAN-02', /got "h\.9\.\*"/],
  ['a report over the plan', () => howMuch([R], '--report', OUT), 'E-STO-04', /expected outputs of their own, got .*out twice/],
  ['a journal over the plan to verify', () => verify(PLAN, '--journal', PLAN), 'E-STO-04', /got the input/],
  ['--write of a plan whose angles are of other data', () => verify(PLAN, '--write'), 'E-PLAN-10', /plan\.json: expected --tokens of the data that its angles are of, t\.json, got/],
  ['two plans of one name', () => compare([R], '--plans', PLAN, '--plans', PLAN), 'E-CLI-01', /--plans: expected files of different names, got plan\.json twice/],
  ['a budget that is none', () => compare([R], '--budgets', '0.1,much'), 'E-CLI-01', /--budgets: expected numbers from 0 to 1 by commas, got "0\.1,much"/],
  ['a share above everything', () => compare([R], '--budgets', '1.5'), 'E-CLI-01', /--budgets: expected numbers from 0 to 1 by commas/],
  ['a method that is none', () => compare([R], '--methods', 'all-low,magic'), 'E-CLI-01', /--methods: expected methods of nvfp4, all-low, .*, got "magic"/],
  ['a method of another recipe', () => compare([R], '--methods', 'fixed'), 'E-CLI-01', /--methods: expected methods of nvfp4, .*, got "fixed"/],
  ['a target that is none', () => howMuch([R], '--target-deg', 'small'), 'E-CLI-01', /--target-deg: expected a number from 0 to 90, got "small"/],
];

it.each(FAULTS)('%s', async (_what, argv, code, message) => {
  const given = argv();
  const before = [scratch.names(), plan()];
  const called = await call(given, devices);
  expect([called.code, called.stdout], called.stderr).toEqual([code === 'E-CLI-01' ? 2 : 1, '']);
  const [first = '', hint = '', ...rest] = called.stderr.split('\n');
  expect(first.split(':')[0], called.stderr).toBe(code);
  expect(first).toMatch(message);
  expect(hint).not.toBe('');
  expect(rest).toEqual(['']);
  expect([scratch.names(), plan()]).toEqual(before);
});

it('standing: the least measured angle, the distance to it with its error over the same batches', () => {
  const of = (perBatchDeg: readonly number[], more: Partial<ComparedPlan> = {}): ComparedPlan => ({
    lowSites: 1, formats: {}, notProbed: [], predictedDeg: 1, cost: 0, effectiveBits: 8, measuredDeg: perBatchDeg.reduce((a, b) => a + b, 0) / perBatchDeg.length, measuredSeDeg: 1, perBatchDeg,
    lossChange: 0, failure: null, scores: {}, gapDeg: null, relativeGap: null, ...more,
  });
  const plans = { a: of([5, 7]), b: of([4, 5]), c: of([1, 2], { notProbed: ['mxfp8'] }), d: of([], { measuredDeg: null, failure: 'E-RUN-02: none' }), e: of([6, 9]) };
  const rows = (...made: [string, string | null][]): { method: string; plan: string | null; reason: null; score: null }[] => made.map(([method, hash]) => ({ method, plan: hash, reason: null, score: null }));
  // Differences are 1 and 2: mean 1.5, standard deviation sqrt(1/2), over sqrt(2) batches.
  expect(standing(rows(['ours', 'a'], ['loss', 'b'], ['mixed', 'c'], ['snip', 'd'], ['random', null]), plans)).toEqual({ lowest: ['loss'], ours: { rival: 'loss', excessDeg: 1.5, excessSeDeg: 0.5 } });
  expect(standing(rows(['ours', 'b'], ['loss', 'b'], ['all-low', 'e']), plans)).toMatchObject({ lowest: ['ours', 'loss'], ours: { rival: 'all-low', excessDeg: -3 } });
  expect(standing(rows(['ours', 'd'], ['loss', 'b']), plans)).toEqual({ lowest: ['loss'], ours: null });
  expect(standing([], plans)).toEqual({ lowest: [], ours: null });
  expect(standardError([1], [2])).toBeNull();
});

it('help names how the files are built', async () => {
  for (const [command, words] of [['compare', ['bendscope-compare/1', 'excessSeDeg', 'notProbed', 'lossChange', 'scores']], ['how-much', ['bendscope-how-much/1', 'costRange', 'batches']]] as const) {
    const { stdout } = await call([command, '--help'], devices);
    for (const word of words) expect(stdout).toContain(word);
    expect(Math.max(...stdout.split('\n').slice(4).map((line) => line.length))).toBeLessThanOrEqual(150);
  }
  const { stdout } = await call(['verify', '--help'], devices);
  expect(stdout).toMatch(/--write .*totals\.measuredDeg/);
});
