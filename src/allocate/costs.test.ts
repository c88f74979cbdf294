/**
 * Cost tables against the totals of cost.ts and figures by hand (method.md 6); measured times from CSV, and everything such a
 * file can hold wrongly; what the solver is offered.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tanSquared } from '../base/angle';
import { BendscopeError } from '../base/errors';
import type { SiteFormat } from '../graph/policy';
import type { Graph, GraphNode } from '../graph/types';
import { gpt2Graph } from '../models/gpt2';
import { costedSites, planTotals, type CostedSite, type Formats } from './cost';
import { costTable, defaultRatio, type CostRequest, type CostTable } from './costs';
import { parseGemmTimes } from './gemm-times';
import { goldenEvidence } from './golden-evidence';
import { offeredChoices, sharedFormatGroups } from './offers';
import { poseQuestion } from './choices';
import { solveWithin } from './within';

/** Needs no measurement. */
const effectiveBits = (sites: readonly CostedSite[], formats: Formats, options: Parameters<typeof planTotals>[3]): number => planTotals(sites, formats, { sites: {}, floor: null }, options).effectiveBits;

const MINI = gpt2Graph({ model: 'gpt2-mini', layers: 6, width: 128, heads: 4, positions: 128, vocabulary: 1024, eps: 1e-5 });
const SITES = costedSites(MINI, 'nvfp4');
const OUTS = costedSites(MINI, 'fp8-out');
const LOW = ['mxfp8', 'nvfp4'] as const;
const SHAPE = { sequences: 4, tokens: 128 };
const NOTHING = { sites: {}, floor: null };

function table(request: CostRequest, sites = SITES): CostTable {
  return costTable(MINI, sites, sites === OUTS ? ['fp8-out'] : LOW, {}, request);
}
function costOf(costs: CostTable, sites: readonly CostedSite[], formats: Formats): number {
  return sites.reduce((sum, { id }) => sum + costs.of(id, formats[id]!), 0);
}
/** A plan of the listed formats in turn. */
function mixed(sites: readonly CostedSite[], ...formats: readonly SiteFormat[]): Formats {
  return Object.fromEntries(sites.map(({ id }, i) => [id, formats[i % formats.length]!]));
}
/** The name and message of what is thrown. */
function errorOf(act: () => unknown): readonly [string, string] | null {
  try {
    act();
    return null;
  } catch (thrown) {
    if (thrown instanceof BendscopeError && thrown.hint !== '') return [thrown.name, thrown.message];
    throw thrown;
  }
}

describe('a cost', () => {
  const plan = mixed(SITES, 'bf16', 'nvfp4', 'mxfp8', 'nvfp4', 'nvfp4');
  const outs = mixed(OUTS, 'bf16', 'fp8-out', 'fp8-out');

  it('of work, cache and bits has the very figure that the plan shows', () => {
    const shown = planTotals(SITES, plan, NOTHING, {});
    expect(table({ kind: 'gemm' }).figureOf(costOf(table({ kind: 'gemm' }), SITES, plan))).toBeCloseTo(shown.hpShare, 14);
    expect(table({ kind: 'bits' }).figureOf(costOf(table({ kind: 'bits' }), SITES, plan))).toBeCloseTo(shown.effectiveBits, 12);
    expect(table({ kind: 'cache' }, OUTS).figureOf(costOf(table({ kind: 'cache' }, OUTS), OUTS, outs))).toBeCloseTo(planTotals(OUTS, outs, NOTHING, {}).hpShare, 14);
    expect(table({ kind: 'bits' }, OUTS).figureOf(costOf(table({ kind: 'bits' }, OUTS), OUTS, outs))).toBeCloseTo(effectiveBits(OUTS, outs, {}), 12);
  });

  it('of bits and of time is that of method.md 6 at both ends', () => {
    const [bits, time] = [table({ kind: 'bits' }), table({ kind: 'time' })];
    const ends = (costs: CostTable): number[] => ['bf16', 'mxfp8', 'nvfp4'].map((format) => costs.figureOf(costOf(costs, SITES, mixed(SITES, format as SiteFormat))));
    // Forward and input gradient read a 16x16 weight at 4.03125 bits, all else 1x16 at 4.5.
    expect(ends(bits)).toEqual([16, 8.25, 4.34375]);
    expect(ends(time)).toEqual([1, 1 / 2, 1 / 4]);
    expect([time, bits].map(({ rounding }) => rounding)).toEqual([0, 0]);
    expect((['bf16', 'fp8', 'fp8-block', 'mxfp8', 'mxfp4', 'nvfp4'] as const).map(defaultRatio)).toEqual([1, 0.5, 0.5, 0.5, 0.25, 0.25]);
  });

  it('is a small integer, whatever the model', () => {
    // qkv 3, proj 1, fc 4 and down 4 squares of the width.
    expect([...new Set(SITES.map(({ id }) => table({ kind: 'gemm' }).of(id, 'bf16')))].sort()).toEqual([1, 3, 4]);
    expect([...new Set(SITES.map(({ id }) => table({ kind: 'time' }).of(id, 'bf16')))].sort((a, b) => a - b)).toEqual([4, 12, 16]);
    const wide = gpt2Graph({ model: 'wide', layers: 126, width: 16384, heads: 128, positions: 8192, vocabulary: 50257, eps: 1e-5 });
    const costs = costTable(wide, costedSites(wide, 'nvfp4'), ['fp8-block', 'nvfp4'], {}, { kind: 'bits' });
    expect(Number.isSafeInteger(costedSites(wide, 'nvfp4').reduce((sum, { id }) => sum + costs.of(id, 'bf16'), 0))).toBe(true);
  });

  it('of edited ratios takes six decimals and says what more of them move', () => {
    const edited = table({ kind: 'time', ratios: { nvfp4: 0.31, mxfp8: 0.55 } });
    expect(edited.figureOf(costOf(edited, SITES, mixed(SITES, 'nvfp4')))).toBe(0.31);
    expect(edited.rounding).toBe(0);
    const third = table({ kind: 'time', ratios: { nvfp4: 1 / 3 } });
    expect(Math.abs(third.figureOf(costOf(third, SITES, mixed(SITES, 'nvfp4'))) - 1 / 3)).toBeLessThanOrEqual(third.rounding);
    expect(third.rounding).toBeLessThan(1e-6);
    for (const ratio of [0, -1, NaN, 5, Infinity]) expect(errorOf(() => table({ kind: 'time', ratios: { nvfp4: ratio } }))).toEqual(['E-PLAN-09', expect.stringContaining(`got ${ratio}`)]);
  });

  it('gives a budget in figures back as the cost it stands for', () => {
    for (const costs of [table({ kind: 'gemm' }), table({ kind: 'bits' }), table({ kind: 'time', ratios: { nvfp4: 0.271 } })]) {
      const highest = costOf(costs, SITES, mixed(SITES, 'bf16'));
      fc.assert(fc.property(fc.integer({ min: 0, max: highest }), (cost) => costs.costOf(costs.figureOf(cost)) === cost), { numRuns: 200 });
    }
  });

  it('is refused for sites of the other kind, and unknown sites', () => {
    expect(errorOf(() => table({ kind: 'cache' }))).toEqual(['E-PLAN-09', 'cost: expected gemm, bits or time for GEMM passes, got cache']);
    for (const request of [{ kind: 'gemm' }, { kind: 'time' }] as const) expect(errorOf(() => table(request, OUTS))).toEqual(['E-PLAN-09', `cost: expected cache or bits for op groups, got ${request.kind}`]);
    expect(() => table({ kind: 'gemm' }).of('h.0.attn.c_attn:fprop', 'fp8')).toThrow('got h.0.attn.c_attn:fprop in fp8');
  });
});

describe('measured times', () => {
  const products = [...new Set(SITES.map(({ node, pass }) => {
    const { inCols, cols } = MINI.nodes.find(({ id }) => id === node)!;
    return `${pass === 'wgrad' ? `${inCols},512,${cols}` : pass === 'fprop' ? `512,${inCols},${cols}` : `512,${cols},${inCols}`},${pass}`;
  }))];
  const rows = products.flatMap((product, i) => [`${product},bf16,${40 + i}.125`, `${product},mxfp8,${20 + i}.5`, `${product},nvfp4,${(10 + i / 3).toFixed(5)}`]);
  const CSV = ['m,k,n,pass,format,time_us', ...rows].join('\n');
  const times = (text = CSV) => parseGemmTimes(text, 'times.csv');

  it('cost what the rows say, to the nanosecond', () => {
    const costs = table({ kind: 'time', times: times(), shape: SHAPE });
    const sum = (format: string): number => SITES.reduce((total, site) => {
      const { inCols, cols } = MINI.nodes.find(({ id }) => id === site.node)!;
      const product = site.pass === 'wgrad' ? [inCols, 512, cols] : site.pass === 'fprop' ? [512, inCols, cols] : [512, cols, inCols];
      return total + Number(rows.find((row) => row.startsWith(`${product.join(',')},${site.pass},${format},`))!.split(',')[5]);
    }, 0);
    const figure = costs.figureOf(costOf(costs, SITES, mixed(SITES, 'nvfp4')));
    expect(Math.abs(figure - sum('nvfp4') / sum('bf16'))).toBeLessThanOrEqual(costs.rounding);
    // 72 sites of at most 0.5 ns.
    expect(costs.rounding).toBeGreaterThan(0);
    expect(costs.rounding).toBeLessThan(2 * ((72 * 0.0005) / sum('bf16')));
    expect(table({ kind: 'time', times: times(CSV.replace(/\.\d+$/gm, '.5')), shape: SHAPE }).rounding).toBe(0);
  });

  it('are read from any order of columns, line end, comment and blank line', () => {
    const turned = `\uFEFF# a profile\r\n${CSV.split('\n').map((line) => { const [m, k, n, pass, format, time] = line.split(','); return [` ${time}`, format, 'x', pass, n, k, m].join(', '); }).join('\r\n\r\n')}\r\n`;
    expect(times(turned.replace('x', 'gflops')).rows).toBe(rows.length);
    expect(times().find({ m: 512, k: 128, n: 384 }, 'fprop', 'bf16')).toBe(40.125);
    expect(times().find({ m: 512, k: 128, n: 384 }, 'dgrad', 'bf16')).toBeNull();
  });

  it('name the product that is missing', () => {
    const without = times(CSV.replace(/^512,512,128,fprop,nvfp4.*\n/m, ''));
    expect(errorOf(() => table({ kind: 'time', times: without, shape: SHAPE }))).toEqual(['E-PLAN-09', 'times.csv: expected a row m=512, k=512, n=128, fprop, nvfp4 for h.0.mlp.c_proj:fprop, got none']);
    expect(errorOf(() => table({ kind: 'time', times: times(), shape: { sequences: 2, tokens: 128 } }))?.[1]).toContain('m=256, k=128, n=384, fprop, bf16 for h.0.attn.c_attn:fprop');
  });

  const good = '512,128,384,fprop,bf16,31.4';
  it.each([
    ['nothing', '', 'E-FILE-08', 'm, k, n, pass, format, time_us'],
    ['no header', good, 'E-FILE-08', 'm, k, n, pass, format, time_us'],
    ['a column missing', 'm,k,n,pass,format\n', 'E-FILE-08', 'not so: time_us'],
    ['a column twice', 'm,m,k,n,pass,format,time_us\n', 'E-FILE-08', 'not so: m'],
    ['too few values', `m,k,n,pass,format,time_us\n${good}\n512,128`, 'E-FILE-07', 'expected 6 values, got 2 at line 3'],
    ['a size that is none', `m,k,n,pass,format,time_us\n# sizes\n${good.replace('512', '0')}`, 'E-FILE-07', 'expected m to be a size, got "0" at line 3'],
    ['a huge size', `m,k,n,pass,format,time_us\n${good.replace('384', '9'.repeat(400))}`, 'E-FILE-07', 'expected n to be a size'],
    ['an unknown pass', `m,k,n,pass,format,time_us\n${good.replace('fprop', 'constructor')}`, 'E-FILE-07', 'expected a pass (fprop, dgrad, wgrad), got "constructor"'],
    ['an unknown format', `m,k,n,pass,format,time_us\n${good.replace('bf16', 'fp16')}`, 'E-FILE-07', 'got "fp16"'],
    ['no time', `m,k,n,pass,format,time_us\n${good.replace('31.4', '')}`, 'E-FILE-07', 'expected time_us above 0'],
    ['a time of 0', `m,k,n,pass,format,time_us\n${good.replace('31.4', '0')}`, 'E-FILE-07', 'expected time_us above 0'],
    ['a time in words', `m,k,n,pass,format,time_us\n${good.replace('31.4', 'Infinity')}`, 'E-FILE-07', 'got "Infinity"'],
    ['a row twice', `m,k,n,pass,format,time_us\n${good}\n${good}`, 'E-FILE-07', 'expected 512x128x384 fprop bf16 once, got it again at line 3'],
  ])('refuse %s', (_, text, name, message) => {
    expect(errorOf(() => times(text))).toEqual([name, expect.stringContaining(message)]);
  });

  it('never end in an unnamed error', () => {
    fc.assert(fc.property(fc.nat(CSV.length), fc.nat(6), fc.string({ maxLength: 6 }), (at, removed, inserted) => void errorOf(() => times(CSV.slice(0, at) + inserted + CSV.slice(at + removed)))), { numRuns: 500 });
  });
});

describe('what is offered', () => {
  it('is every measured format with its angle, floor and cost, under the locks', () => {
    const evidence = goldenEvidence('mini', MINI, 'nvfp4');
    const low = [{ format: 'mxfp8', evidence: NOTHING }, { format: 'nvfp4', evidence }] as const;
    const costs = table({ kind: 'time' });
    const [id, last] = ['h.0.attn.c_attn:fprop', SITES.at(-1)!.id];
    const offered = offeredChoices(SITES, low, costs, { [last]: 'nvfp4' });
    const result = evidence.sites[id]!;
    const clean = result.status === 'measured' ? tanSquared(result.cleanAngleDeg) : NaN;
    expect(offered[0]).toEqual({ id, lock: null, offers: [
      { format: 'bf16', cost: 12, tan2: 0, floorTan2: 0 }, { format: 'mxfp8', cost: 6, tan2: null, floorTan2: 0 }, { format: 'nvfp4', cost: 3, tan2: clean, floorTan2: tanSquared(evidence.floor!.forwardDeg) },
    ] });
    expect(offered.at(-1)!.lock).toBe('nvfp4');
    const { formats, point } = solveWithin(poseQuestion(offered), { cost: costs.costOf(0.5) });
    expect(new Set(Object.values(formats))).toEqual(new Set(['bf16', 'nvfp4']));
    expect(costs.figureOf(point.cost)).toBeLessThanOrEqual(0.5);
  });

  it('in one format to linears that read the same value', () => {
    expect(sharedFormatGroups(MINI)).toEqual([]);
    const linear = (id: string, input: string, layer: number | null = 0): GraphNode =>
      ({ id, op: 'linear', inputs: [input], params: {}, cols: 8, inCols: 8, weightTransposed: false, heads: 0, eps: 0, layer, group: id });
    const split: Graph = { ...MINI, nodes: [linear('q', 'n1'), linear('k', 'n1'), linear('o', 'a'), linear('gate', 'n2'), linear('up', 'n2'), linear('head', 'n3', null), linear('twin', 'n3', null)] };
    expect(sharedFormatGroups(split)).toEqual([
      ['q:fprop', 'k:fprop'], ['q:dgrad', 'k:dgrad'], ['q:wgrad', 'k:wgrad'], ['gate:fprop', 'up:fprop'], ['gate:dgrad', 'up:dgrad'], ['gate:wgrad', 'up:wgrad'],
    ]);
  });
});
