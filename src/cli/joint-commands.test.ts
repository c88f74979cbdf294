/**
 * compare, how-much and verify end to end on gpt2-nano: joints are the same whichever command measures them, our predicted angle is
 * the least of every plan within a budget, stopped and killed comparisons end in the bytes of undisturbed ones, measured
 * angles stand in plan files. Wrong inputs: joint-faults.test.ts.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, copyFileSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allocationFacts } from '../allocate/allocation-facts';
import { importAllocation } from '../allocate/allocation-file';
import type { AllocationFile } from '../allocate/allocation-schema';
import { angleOfTanSquared, poolAngles, tanSquared } from '../base/angle';
import type { Measured } from '../graph/probe-record';
import type { Pass } from '../graph/types';
import { call, expectDone, NANO, Scratch, SharedDevices } from './cli-fixture';
import type { CompareReport } from './compare-report';
import { builtIn } from './golden';
import type { ProbeReport } from './probe-report';

const devices = new SharedDevices();
const scratch = new Scratch();
afterAll(() => {
  devices.dispose();
  scratch.dispose();
});

const { graph, batches } = builtIn('nano');
const T = scratch.write('tokens.json', { batches: [0, 1].map((k) => (batches[k] ?? []).slice(0, 2).map((row) => row.slice(0, 13))) });
const [R4, R8] = [scratch.path('nvfp4.json'), scratch.path('fp8.json')];
const text = (name: string): string => readFileSync(scratch.path(name), 'utf8');
const parsed = <X>(name: string): X => JSON.parse(text(name)) as X;
const done = async (argv: string[], onLine?: (line: string) => void): Promise<string> => expectDone(await call(argv, devices, onLine)).stderr;
const compare = (out: string, ...more: string[]): string[] => ['compare', '--model', NANO, '--tokens', T, '--probe', R4, '--out', scratch.path(out), ...more];
const howMuch = (out: string, ...more: string[]): string[] => ['how-much', '--model', NANO, '--tokens', T, '--probe', R4, '--out', scratch.path(out), ...more];
const JOURNAL = ['--journal', scratch.path('kept.journal')];
const BUDGETS = [0.1, 0.4];
const METHODS = ['all-low', 'fprop-high', 'local-error', 'snip', 'random'];
const WIDE = ['--budgets', BUDGETS.join(), '--methods', METHODS.join()];
const SMALL = ['--budgets', '0.4', '--methods', 'all-low,fprop-high,local-error'];

beforeAll(async () => {
  const probe = ['probe', '--model', NANO, '--tokens', T];
  await done([...probe, '--recipe', 'nvfp4', '--out', R4]);
  await done([...probe, '--recipe', 'fp8', '--sites', 'h.0.*', '--out', R8]);
}, 300_000);

/** atan(sqrt(floor^2 + sum)), from the probe's own figures. */
function predicted(formats: Readonly<Record<string, string>>): number {
  const report = parsed<ProbeReport>('nvfp4.json');
  const floors: Readonly<Record<Pass, number>> = { fprop: report.floor?.forwardDeg ?? NaN, dgrad: report.floor?.backwardDeg ?? NaN, wgrad: 0 };
  const low = Object.keys(formats);
  const floor = Math.max(0, ...low.map((id) => floors[id.split(':')[1] as Pass]));
  return angleOfTanSquared(low.reduce((sum, id) => sum + tanSquared((report.sites[id] as Measured).cleanAngleDeg), tanSquared(floor)));
}

describe('compare', () => {
  it('every plan with its figures; ours has the least predicted angle of all plans that cost no more', async () => {
    const stderr = await done(compare('all.json', ...WIDE, '--csv', scratch.path('all.csv'), ...JOURNAL));
    const report = parsed<CompareReport>('all.json');
    expect(report).toMatchObject({ schema: 'bendscope-compare/1', recipe: 'nvfp4', options: {}, cost: { kind: 'gemm', rounding: 0 }, provenance: { modelName: 'gpt2-nano', batches: 2 } });
    expect(report.methods.map(({ id }) => id).sort()).toEqual(['ours', ...METHODS].sort());
    const plans = Object.values(report.plans);
    expect(plans.length).toBeGreaterThan(6);
    for (const plan of plans) {
      if (plan.notProbed.length === 0) expect(plan.predictedDeg).toBeCloseTo(predicted(plan.formats), 9);
      expect(plan.measuredDeg).toBe(poolAngles(plan.perBatchDeg).angleDeg);
      expect(plan.gapDeg).toBe(plan.predictedDeg === null || plan.measuredDeg === null ? null : plan.measuredDeg - plan.predictedDeg);
    }
    expect(report.levels.filter(({ isAsked }) => isAsked).map(({ budget }) => budget)).toEqual(BUDGETS);
    for (const { budget, rows, lowest, ours } of report.levels) {
      const own = report.plans[rows[0]?.plan ?? '']!;
      const within = plans.filter(({ cost, notProbed }) => cost <= budget && notProbed.length === 0);
      expect(within).toContain(own);
      expect(own.predictedDeg).toBe(Math.min(...within.map(({ predictedDeg }) => predictedDeg ?? Infinity)));
      // Standings are of what was measured, ours as any other.
      const ranked = [...rows, ...report.fixed].flatMap(({ method, plan }) => (plan !== null && within.includes(report.plans[plan]!) ? [{ method, angleDeg: report.plans[plan]!.measuredDeg ?? NaN }] : []));
      const least = Math.min(...ranked.map(({ angleDeg }) => angleDeg));
      expect([...lowest].sort()).toEqual(ranked.filter(({ angleDeg }) => angleDeg === least).map(({ method }) => method).sort());
      if (ours !== null) expect(ours.excessDeg > 0).toBe(!lowest.includes('ours'));
    }
    // A fixed plan meets ours at its own cost.
    const third = report.plans[report.fixed.find(({ method }) => method === 'fprop-high')?.plan ?? '']!;
    expect(third.cost).toBeCloseTo(1 / 3, 12);
    expect(report.levels.some(({ budget, isAsked }) => !isAsked && budget === third.cost)).toBe(true);
    for (const { name, id } of report.methods) expect(stderr, id).toContain(`  ${name} `);
    expect(stderr).toMatch(/^HP GEMM work at most 0\.4000: /m);
    expect(stderr).toMatch(/^measured against predicted, \d+ plans: median \|gap\| [\d.]+ %, largest [+-][\d.]+ % \(.+\)$/m);

    const [head = '', ...rows] = text('all.csv').trimEnd().split('\r\n');
    expect(head.split(',').slice(0, 6)).toEqual(['budget', 'asked', 'method', 'kind', 'predicted_deg', 'measured_deg']);
    expect(rows).toHaveLength(report.levels.reduce((sum, level) => sum + level.rows.length, report.fixed.length));
    const own = report.levels.find(({ budget }) => budget === 0.4)?.rows[0]?.plan ?? '';
    expect(rows.find((row) => row.startsWith('0.4,true,ours,'))).toBe(`0.4,true,ours,ours,${['predictedDeg', 'measuredDeg', 'measuredSeDeg', 'gapDeg', 'relativeGap', 'cost', 'effectiveBits'].map((key) => String(report.plans[own]?.[key as 'cost'])).join()},,${report.plans[own]?.lossChange},${report.plans[own]?.lowSites},${own},`);
  }, 600_000);

  it('joints are those that verify measures of the same plan, in another process of measuring', async () => {
    const { levels, plans } = parsed<CompareReport>('all.json');
    const level = levels.find(({ budget }) => budget === 0.4)!;
    await done(['allocate', '--model', NANO, '--probe', R4, '--budget', '0.4', '--out', scratch.path('plan.json')]);
    const { plan } = parsed<AllocationFile>('plan.json');
    expect(plan.hash).toBe(level.rows[0]?.plan);
    await done(['verify', '--model', NANO, '--tokens', T, '--plan', scratch.path('plan.json'), '--out', scratch.path('v.json')]);
    const found = parsed<{ measured: Measured; gapDeg: number; floor: object; referenceLoss: object }>('v.json');
    const { measuredDeg, measuredSeDeg, perBatchDeg, lossChange, gapDeg } = plans[plan.hash ?? '']!;
    expect([found.measured.angleDeg, found.measured.angleSeDeg, found.measured.perBatch.map(({ angleDeg }) => angleDeg), found.measured.lossChange, found.gapDeg]).toEqual([measuredDeg, measuredSeDeg, perBatchDeg, lossChange, gapDeg]);
    expect([found.floor, found.referenceLoss]).toEqual([parsed<CompareReport>('all.json').floor, parsed<CompareReport>('all.json').referenceLoss]);
  });

  it('from the journal nothing is measured again; a plan of yours stands beside; the same bytes twice', async () => {
    const lines: string[] = [];
    await done(compare('again.json', ...WIDE, ...JOURNAL), (line) => lines.push(line));
    expect(text('again.json')).toBe(text('all.json'));
    expect(lines.filter((line) => /^\d+\/\d+ /.test(line))).toEqual([]);
    expect(scratch.names()).toContain('kept.journal');
    await done(compare('given.json', ...SMALL, '--plans', scratch.path('plan.json'), ...JOURNAL), (line) => lines.push(line));
    expect(lines.filter((line) => /^\d+\/\d+ /.test(line))).toEqual([]);
    const { fixed, plans } = parsed<CompareReport>('given.json');
    expect(fixed[0]).toMatchObject({ method: 'plan.json', plan: parsed<AllocationFile>('plan.json').plan.hash, score: null });
    expect(plans).toEqual(Object.fromEntries(Object.keys(plans).map((hash) => [hash, parsed<CompareReport>('all.json').plans[hash]])));
  });

  it('interrupted, then killed, its last line torn: the same command continues to the same bytes', async () => {
    await done(compare('whole.json', ...SMALL));
    expect(scratch.names()).not.toContain('whole.json.journal');
    const stopped = await call(compare('stopped.json', ...SMALL), devices, (line) => {
      // What Ctrl-C calls, without ending the test runner.
      if (line.startsWith('1/')) process.listeners('SIGINT').at(-1)?.('SIGINT');
    });
    expect([stopped.code, stopped.stderr]).toEqual([1, expect.stringMatching(/\nE-RUN-03: /)]);
    expect(scratch.names()).not.toContain('stopped.json');
    const child = spawn(process.execPath, [fileURLToPath(new URL('../../.ci/cli.mjs', import.meta.url)), ...compare('stopped.json', ...SMALL)], { stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += String(chunk);
      if (/\n2\/\d+ /.test(stderr)) child.kill('SIGKILL');
    });
    const signal = await new Promise((resolve) => child.on('exit', (_code, by) => resolve(by)));
    expect(signal, stderr).toBe('SIGKILL');
    expect(stderr).not.toMatch(/\n1\/\d+ /);
    appendFileSync(scratch.path('stopped.json.journal'), '{"key":"sha256:0","kind":"jo');
    expect(await done(compare('stopped.json', ...SMALL))).toMatch(/^continuing: [23] plans are in .*stopped\.json\.journal$/m);
    expect(text('stopped.json')).toBe(text('whole.json'));
    expect(scratch.names()).not.toContain('stopped.json.journal');
  }, 600_000);

  it('several formats: ours takes them, at a cost that tells them apart', async () => {
    await done(compare('two.json', '--probe', R8, '--cost', 'bits', '--budgets', '6', '--methods', 'all-low,mixed'));
    const report = parsed<CompareReport>('two.json');
    const own = report.plans[report.levels.find(({ budget }) => budget === 6)?.rows[0]?.plan ?? '']!;
    expect(new Set(Object.values(own.formats))).toEqual(new Set(['fp8', 'nvfp4']));
    expect(own.cost).toBeLessThanOrEqual(6);
    expect(own.cost).toBeCloseTo(own.effectiveBits, 9);
    // No probe of mxfp8: measured, not predicted, not ranked.
    const mixed = report.plans[report.fixed.find(({ method }) => method === 'mixed')?.plan ?? '']!;
    expect(mixed).toMatchObject({ notProbed: ['mxfp8'], predictedDeg: null, gapDeg: null });
    expect(mixed.measuredDeg).toBeGreaterThan(0);
    expect(report.levels.flatMap(({ lowest }) => lowest)).not.toContain('mixed');
  }, 300_000);
});

describe('how-much', () => {
  it('meets the target as measured; every step said; the plan carries its angle, the report the rest', async () => {
    const allLow = parsed<CompareReport>('all.json').fixed.find(({ method }) => method === 'all-low')?.plan ?? '';
    const targetDeg = 0.4 * (parsed<CompareReport>('all.json').plans[allLow]?.measuredDeg ?? NaN);
    const argv = howMuch('much.json', '--target-deg', String(targetDeg), '--report', scratch.path('h.json'), ...JOURNAL);
    const stderr = await done(argv);
    const { totals, plan } = parsed<AllocationFile>('much.json');
    const report = parsed<{ steps: { cost: number; predictedDeg: number; measuredDeg: number; meets: boolean; plan: string }[]; best: number; isSettled: boolean; costRange: [number, number]; batches: object[] }>('h.json');
    const best = report.steps[report.best]!;
    expect(best).toMatchObject({ cost: totals.hpGemmWork, measuredDeg: totals.measuredDeg, meets: true, plan: plan.hash });
    expect(best.predictedDeg).toBeCloseTo(totals.predictedDeg ?? NaN, 9);
    expect(totals.measuredDeg).toBeLessThanOrEqual(targetDeg);
    expect(report.steps.length).toBeLessThanOrEqual(4);
    expect(report.isSettled).toBe(true);
    expect(stderr.match(/^\d\/4 HP GEMM work [\d.]+: predicted .*, measured .*, (meets|misses) the target$/gm)).toHaveLength(report.steps.length);
    expect(report.costRange[0]).toBeLessThanOrEqual(report.costRange[1]);
    expect(report.batches).toHaveLength(2);
    expect(stderr).toMatch(/^ {2}1 .*\n {2}2 .* deg$/m);
    // The page and verify read the angle back; verify measures the same.
    const imported = importAllocation(text('much.json'), { graph, modelSha256: parsed<AllocationFile>('much.json').model.sha256 });
    expect(allocationFacts(imported, 'much.json').joint[plan.hash ?? '']).toEqual({ result: { status: 'measured', angleDeg: totals.measuredDeg } });
    await done(['verify', '--model', NANO, '--tokens', T, '--plan', scratch.path('much.json'), '--out', scratch.path('w.json'), ...JOURNAL]);
    expect(parsed<{ measured: Measured }>('w.json').measured.angleDeg).toBe(totals.measuredDeg);
    const before = [text('much.json'), text('h.json')];
    await done(argv);
    expect([text('much.json'), text('h.json')]).toEqual(before);
  }, 300_000);

  it('locks hold on the way', async () => {
    const lock = scratch.write('lock.json', { 'h.0.mlp.c_fc:*': 'bf16' });
    await done(howMuch('locked.json', '--target-deg', '12', '--lock', lock, ...JOURNAL));
    const { sites, totals } = parsed<AllocationFile>('locked.json');
    expect(sites['h.0.mlp.c_fc:wgrad']).toMatchObject({ format: 'bf16', locked: true });
    expect(totals.measuredDeg).toBeLessThanOrEqual(12);
  }, 300_000);
});

describe('verify', () => {
  it('--write puts the measured angle into the plan and changes nothing else', async () => {
    copyFileSync(scratch.path('plan.json'), scratch.path('written.json'));
    const argv = ['verify', '--model', NANO, '--tokens', T, '--plan', scratch.path('written.json'), '--write', ...JOURNAL];
    expect(await done(argv)).toMatch(/written\.json now holds the measured angle$/m);
    const before = parsed<AllocationFile>('plan.json');
    const { measuredDeg } = parsed<AllocationFile>('written.json').totals;
    expect(before.totals.measuredDeg).toBeNull();
    expect(measuredDeg).toBe(parsed<CompareReport>('all.json').plans[before.plan.hash ?? '']?.measuredDeg);
    expect(text('written.json')).toBe(text('plan.json').replace('"measuredDeg": null', `"measuredDeg": ${measuredDeg}`));
    const once = text('written.json');
    await done(argv);
    expect(text('written.json')).toBe(once);
  });
});
