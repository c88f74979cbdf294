/**
 * allocate, verify and export on inputs that are wrong: each refused by its stable name, before a device is opened and
 * without a trace of an output. Probes here are made up; op groups too, which need no device to be planned.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AllocationFile } from '../allocate/allocation-schema';
import type { RecipeName } from '../graph/policy';
import { call, expectDone, NANO, NoDevices, Scratch } from './cli-fixture';
import { measured, report, writerIn } from './made-up-probe-fixture';
import { openFolder } from './open-folder';
import { readProbeFile } from './probe-file';

const devices = new NoDevices();
const scratch = new Scratch();
afterAll(() => scratch.dispose());

const write = writerIn(scratch);
const probe = (recipe: RecipeName, change: object = {}, provenance: object = {}): string => write(report(recipe, change, provenance));

const OUT = scratch.path('out');
const [R, R8] = [probe('nvfp4'), probe('fp8')];
const PLAN = scratch.path('plan.json');
const T = write({ tokens: [[1, 2, 3]] });
const allocate = (probes: readonly string[], ...more: string[]): string[] => ['allocate', '--model', NANO, ...probes.flatMap((path) => ['--probe', path]), '--out', OUT, ...(more.length > 0 ? more : ['--budget', '0.5'])];
const verify = (plan: string, ...more: string[]): string[] => ['verify', '--model', NANO, '--tokens', T, '--plan', plan, ...more];
const exportTo = (target: string, plan = PLAN): string[] => ['export', '--model', NANO, '--plan', plan, '--to', target, '--out', OUT];
const locked = (locks: unknown): string[] => allocate([R], '--budget', '0.5', '--lock', write(locks));
const ratios = (text: string): string[] => allocate([R], '--budget', '0.5', '--cost', 'time', '--ratios', text);
const SITE = 'h.0.mlp.c_fc:fprop';

beforeAll(async () => {
  expectDone(await call(['allocate', '--model', NANO, '--probe', R, '--budget', '0.5', '--out', PLAN], devices));
});

const FAULTS: [what: string, argv: () => string[], code: string, message: RegExp][] = [
  ['no probe file', () => allocate([scratch.path('none.json')]), 'E-FILE-09', /none\.json: expected a file/],
  ['a cut probe', () => allocate([write(JSON.stringify(report('nvfp4')).slice(0, 900))]), 'E-FILE-07', /is damaged: the file: expected JSON/],
  ['a list for a probe', () => allocate([write([])]), 'E-FILE-07', /expected an object, got \[\]/],
  ['a plan for a probe', () => allocate([PLAN]), 'E-VER-01', /expected schema bendscope-probe\/1, got "bendscope-allocation\/1"/],
  ['a probe of another model', () => allocate([probe('nvfp4', {}, { modelSha256: 'sha256:2', modelName: 'gpt2-mini' })]), 'E-PLAN-01', /was measured on gpt2-mini with weights sha256:2; --model is gpt2-nano/],
  ['a probe without provenance', () => allocate([probe('nvfp4', { provenance: undefined })]), 'E-FILE-07', /provenance: expected an object, got nothing/],
  ['a probe without a device', () => allocate([probe('nvfp4', {}, { device: 7 })]), 'E-FILE-07', /provenance\.device: expected a text, got 7/],
  ['a probe of an unknown recipe', () => allocate([probe('nvfp4', { recipe: 'int4' })]), 'E-PLAN-03', /got "int4"/],
  ['a probe with an unknown switch', () => allocate([probe('nvfp4', { options: { fast: true } })]), 'E-PLAN-06', /got fast = true/],
  ['a site of another kind', () => allocate([probe('nvfp4', { sites: { 'wte:out': measured(1) } })]), 'E-PLAN-02', /expected sites of gpt2-nano that nvfp4 can lower, got "wte:out"/],
  ['an angle that is a text', () => allocate([probe('nvfp4', { sites: { [SITE]: { ...measured(1), cleanAngleDeg: '1' } } })]), 'E-FILE-07', /sites\.h\.0\.mlp\.c_fc:fprop\.cleanAngleDeg: expected a number from 0, got "1"/],
  ['a site that is neither measured nor failed', () => allocate([probe('nvfp4', { sites: { [SITE]: { status: 'lost' } } })]), 'E-FILE-07', /status: expected measured or failed, got "lost"/],
  ['a batch without an angle', () => allocate([probe('nvfp4', { sites: { [SITE]: { ...measured(1), perBatch: [{ relativeShift: 1 }] } } })]), 'E-FILE-07', /perBatch\.0\.angleDeg: expected a number from 0, got nothing/],
  ['batches that are no list', () => allocate([probe('nvfp4', { sites: { [SITE]: { ...measured(1), perBatch: 4 } } })]), 'E-FILE-07', /perBatch: expected a list, got 4/],
  ['a floor run of nothing', () => allocate([probe('nvfp4', { floor: { forwardDeg: 1, backwardDeg: 1, perRun: [{ batch: 0, node: 'wte', what: 'x', angleDeg: 1 }] } })]), 'E-FILE-07', /floor\.perRun\.0\.what: expected y or dy, got "x"/],
  ['a score that is a text', () => allocate([probe('nvfp4', { scores: { [SITE]: { firstOrder: 'large', snip: null } } })]), 'E-FILE-07', /scores\.h\.0\.mlp\.c_fc:fprop\.firstOrder: expected a number from 0, got "large"/],
  ['a score of another kind of site', () => allocate([probe('nvfp4', { scores: { 'wte:out': { firstOrder: 1, snip: 1 } } })]), 'E-PLAN-02', /got "wte:out"/],
  ['a floor that is none', () => allocate([probe('nvfp4', { floor: { forwardDeg: -1 } })]), 'E-FILE-07', /floor\.forwardDeg/],
  ['two probes of a recipe', () => allocate([R, probe('nvfp4', { options: { rht: true } })]), 'E-PLAN-10', /expected one probe a recipe, as of nvfp4, got another of nvfp4/],
  ['op groups beside passes', () => allocate([R, probe('fp8-out')]), 'E-PLAN-10', /expected probes of GEMM passes, got op groups \(fp8-out\) among several/],
  ['probes of other data', () => allocate([R, probe('fp8', {}, { tokensSha256: 'sha256:3' })]), 'E-PLAN-10', /expected tokensSha256 as in .*, got sha256:3/],
  ['probes of another device', () => allocate([R, probe('fp8', {}, { device: 'b' })]), 'E-PLAN-10', /expected device as in .*, a device, got b/],
  ['probes of another floor', () => allocate([R, probe('fp8', { floor: null })]), 'E-PLAN-10', /expected the noise floor of .*, got another/],
  ['probes with switches that no run has', () => allocate([probe('mxfp8', { options: { floor: true } }), probe('mxfp4')]), 'E-PLAN-10', /expected floor = true as another of these probes has it, got false/],
  ['a cost of op groups', () => allocate([R], '--cost', 'cache', '--budget', '0.5'), 'E-PLAN-09', /expected gemm, bits or time for GEMM passes, got cache/],
  ['ratios that are no JSON', () => ratios('fp8=0.5'), 'E-PLAN-09', /--ratios: expected JSON/],
  ['a ratio of no format', () => ratios('{"int4": 0.5}'), 'E-PLAN-09', /expected numbers by format, got "int4": 0\.5/],
  ['a ratio of 0', () => ratios('{"nvfp4": 0}'), 'E-PLAN-09', /expected the time ratio of nvfp4 between/],
  ['times without a product', () => allocate([R], '--budget', '0.5', '--cost', 'time', '--times', scratch.write('times.csv', 'm,k,n,pass,format,time_us\n1,2,3,fprop,bf16,1\n')), 'E-PLAN-09', /times\.csv: expected a row m=8, k=64, n=192, fprop, bf16 for h\.0\.attn\.c_attn:fprop/],
  ['times that are no table', () => allocate([R], '--budget', '0.5', '--cost', 'time', '--times', R), 'E-FILE-08', /expected a first line with each of the columns/],
  ['locks that are no JSON', () => locked('h.0'), 'E-PLAN-07', /expected JSON/],
  ['locks in a list', () => locked([SITE]), 'E-PLAN-07', /expected an object of sites and formats/],
  ['a lock on no site', () => locked({ 'h.9.*': 'bf16' }), 'E-PLAN-02', /input-\d+\.json: expected a pattern that matches a site of gpt2-nano under nvfp4, got "h\.9\.\*"/],
  ['a lock to a format without a probe', () => locked({ [SITE]: 'fp8' }), 'E-PLAN-03', /expected bf16 or nvfp4, which the probes measured, got "fp8"/],
  ['two locks on a site', () => locked({ [SITE]: 'nvfp4', 'h.0.*': 'bf16' }), 'E-PLAN-08', /expected one lock a site, got nvfp4 and bf16 for h\.0\.mlp\.c_fc:fprop/],
  ['a budget below what is locked', () => allocate([R], '--budget', '0.1', '--lock', write({ '*:fprop': 'bf16' })), 'E-PLAN-11', /expected a plan with HP GEMM work of at most 0\.1, got 0\.3333 at best \(0 of 24 sites are not measured and keep BF16, 8 are locked\)/],
  ['a budget below what was not measured', () => allocate([probe('nvfp4', { sites: { [SITE]: measured(1) } })]), 'E-PLAN-11', /at best \(23 of 24 sites are not measured/],
  ['a target below what is locked', () => allocate([R], '--target-deg', '0.5', '--lock', write({ [SITE]: 'nvfp4' })), 'E-PLAN-11', /expected a plan with a bend of at most 0\.5 deg, got/],
  ['an output over a probe', () => ['allocate', '--model', NANO, '--probe', R, '--budget', '1', '--out', R], 'E-STO-04', /got the input/],
  ['no plan', () => verify(scratch.path('none.json')), 'E-FILE-09', /none\.json: expected a file/],
  ['a probe for a plan', () => exportTo('csv', R), 'E-VER-01', /expected schema bendscope-allocation\/1/],
  ['a plan of other weights', () => verify(write({ ...plan(), model: { ...plan().model, sha256: `sha256:${'4'.repeat(64)}` } })), 'E-PLAN-01', /made for "gpt2-nano" with weights/],
  ['a plan with another format than it names', () => exportTo('csv', write({ ...plan(), sites: { ...plan().sites, [SITE]: { ...plan().sites[SITE], format: 'mxfp8' } } })), 'E-FILE-07', /plan\.hash/],
  ['a plan with op groups among passes', () => exportTo('csv', write({ ...plan(), sites: { ...plan().sites, [SITE]: { ...plan().sites[SITE], format: 'fp8-out' } } })), 'E-PLAN-02', /got "fp8-out"/],
  ['tokens outside the vocabulary', () => ['verify', '--model', NANO, '--tokens', write({ tokens: [[1, 1024]] }), '--plan', PLAN], 'E-DATA-02', /Token 1024/],
  ['figures over the plan', () => verify(PLAN, '--out', PLAN), 'E-STO-04', /got the input/],
];
const plan = (): AllocationFile => JSON.parse(readFileSync(PLAN, 'utf8')) as AllocationFile;

it.each(FAULTS)('%s', async (_what, argv, code, message) => {
  const given = argv();
  const before = scratch.names();
  const called = await call(given, devices);
  expect([called.code, called.stdout], called.stderr).toEqual([1, '']);
  const [first = '', hint = '', ...rest] = called.stderr.split('\n');
  expect(first.split(':')[0], called.stderr).toBe(code);
  expect(first).toMatch(message);
  expect(hint).not.toBe('');
  expect(rest).toEqual(['']);
  expect(scratch.names()).toEqual(before);
});

it('a target that cannot hold the plan: said, refused, nothing written', async () => {
  const called = await call(exportTo('torchao-float8'), devices);
  expect([called.code, called.stderr]).toEqual([1, expect.stringMatching(/^torchao.*: cannot express\nE-EXP-03: .*expected a plan that it can express, got HP GEMM work at most 0\.5: .*has no nvfp4.*\n.+\n$/)]);
  expect(scratch.names()).not.toContain('out');
});

it('widths that kernels refuse are a note', async () => {
  const { stderr } = expectDone(await call(['export', '--model', NANO, '--plan', PLAN, '--to', 'modelopt', '--out', scratch.path('quant.py')], devices));
  expect(stderr).toMatch(/^Model Optimizer quant_cfg: \d+ sites rounded up$/m);
  expect(stderr).toMatch(/^note: Model Optimizer: NVFP4 weights are scaled in blocks of 1x16/m);
});

it('op groups spend cache; a failed site keeps BF16 and its reason', async () => {
  const sites = { ...(report('fp8-out') as { sites: Record<string, object> }).sites, 'h.1.mlp.act:out': { status: 'failed', errorName: 'E-RUN-02', reason: 'h.1.mlp.act:out, batch 0: loss is NaN' } };
  const { stderr } = expectDone(await call(['allocate', '--model', NANO, '--probe', probe('fp8-out', { sites }), '--budget', '0.4', '--out', scratch.path('outs.json')], devices));
  expect(stderr).toMatch(/^without a measurement: h\.1\.mlp\.act:out bf16$/m);
  expect(stderr).toMatch(/HP activation cache 0\.[34]\d+, .* effective bits$/m);
  const file = JSON.parse(readFileSync(scratch.path('outs.json'), 'utf8')) as AllocationFile;
  expect(file.totals.hpActivationCache?.share).toBeLessThanOrEqual(0.4);
  expect(file.sites['h.1.mlp.act:out']).toMatchObject({ format: 'bf16', status: 'failed', reason: 'E-RUN-02: h.1.mlp.act:out, batch 0: loss is NaN' });
  const again = scratch.path('again.json');
  expectDone(await call(['export', '--model', NANO, '--plan', scratch.path('outs.json'), '--to', 'allocation', '--out', again], devices));
  expect(readFileSync(again, 'utf8')).toBe(readFileSync(scratch.path('outs.json'), 'utf8'));
});

it('single batches, runs of the floor and scores of other methods are read; an older file has none', async () => {
  const opened = await openFolder(NANO);
  const batch = { angleDeg: 1, relativeShift: 0.1, lengthRatio: 1, rotationShare: 0.9, lossChange: -0.1, localError: null };
  const floor = { forwardDeg: 0.1, backwardDeg: 0.05, perRun: [{ batch: 0, node: 'wte', what: 'y', angleDeg: 0.1 }, { batch: 1, node: 'ln_f', what: 'dy', angleDeg: 0.05 }] };
  const scores = { [SITE]: { firstOrder: 1e-9, snip: null } };
  const read = await readProbeFile(probe('nvfp4', { sites: { [SITE]: { ...measured(1), perBatch: [batch, { ...batch, localError: 0.5 }] } }, floor, scores }), opened);
  expect(read.evidence.sites[SITE]).toMatchObject({ perBatch: [batch, { ...batch, localError: 0.5 }] });
  expect([read.evidence.floor, read.scores]).toEqual([floor, scores]);
  const older = await readProbeFile(R, opened);
  expect([older.evidence.floor?.perRun, older.scores]).toEqual([[], {}]);
});

it('the page\'s own probe record is read, with its date', async () => {
  const startedAt = '2026-01-01T00:00:00Z';
  expectDone(await call(['allocate', '--model', NANO, '--probe', probe('nvfp4', {}, { startedAt }), '--probe', R8, '--target-deg', '10', '--out', scratch.path('page.json')], devices));
  expect((JSON.parse(readFileSync(scratch.path('page.json'), 'utf8')) as AllocationFile).measuredOn).toMatchObject({ startedAt });
});
