/**
 * What stands in the files beside the formats: header, roundings, warnings of refused widths and switches, flags of block
 * protection, CSV and allocation.json with op-group outputs, names nobody expects. One small plan is kept as golden files.
 */
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { APP_VERSION } from '../../base/version';
import type { SiteFormat } from '../../graph/policy';
import type { SiteResult } from '../../graph/probe-record';
import { gpt2Graph } from '../../models/gpt2';
import { importAllocation } from '../allocation-file';
import { costedSites } from '../cost';
import { planHash, type Plan } from '../plan';
import { SITE_COLUMNS } from './csv';
import { badgeText, type TableFacts } from './export-target';
import { contextOf, mixedPlans, planOf, plansOf } from './golden-plans';
import { EXPORT_TARGETS, findTarget } from './targets';
import { blockProtection, viewPlan } from './plan-view';

const CONTEXT = contextOf(12);
const SITES = costedSites(CONTEXT.graph, 'nvfp4');
const OUTS = costedSites(CONTEXT.graph, 'fp8-out');
const PLAN = planOf('B', 12, ({ id }) => (id.startsWith('h.11.') || id === 'h.1.mlp.c_fc:wgrad' ? 'bf16' : 'nvfp4'));
const OUT_PLAN: Plan = { name: 'groups', notes: '', locked: {}, formats: Object.fromEntries(OUTS.map(({ id, inFixedPolicy }): [string, SiteFormat] => [id, inFixedPolicy ? 'bf16' : 'fp8-out'])) };
const OUT_CONTEXT = contextOf(12, 'fp8-out');
const render = (id: string, plan = PLAN, context = CONTEXT) => findTarget(id)!.render(plan, context);
const fits = (id: string, plan = PLAN, context = CONTEXT) => findTarget(id)!.fits(plan, context);
const LAYER_TARGETS = EXPORT_TARGETS.filter(({ selectors }) => selectors !== null).map(({ id }) => id);
const COMMENTED = LAYER_TARGETS.filter((id) => id !== 'model-explorer' && id !== 'torchao-float8');

describe('the table', () => {
  it('has one row a target, with different files', () => {
    expect(EXPORT_TARGETS.map(({ id }) => id)).toEqual(['allocation', 'te-debug', 'te-factory', 'megatron', 'torchao', 'torchao-float8', 'modelopt', 'model-explorer', 'csv']);
    const names = EXPORT_TARGETS.filter(({ id }) => id !== 'torchao-float8').map(({ id }) => render(id).fileName);
    expect(names).toEqual([
      'gpt2-b.allocation.json', 'gpt2-b.te-debug.yaml', 'gpt2_b_te_factory.py', 'gpt2-b.megatron.yaml', 'gpt2_b_torchao.py', 'gpt2_b_modelopt.py', 'gpt2-b.model-explorer.json', 'gpt2-b.sites.csv',
    ]);
    expect(render('te-factory', { ...PLAN, name: '…' }, { ...CONTEXT, graph: { ...CONTEXT.graph, model: '7B/Gpt' } }).fileName).toBe('m_7b_gpt_plan_te_factory.py');
  });
});

describe('the header', () => {
  it.each(COMMENTED)('of %s names plan, hash, fit and layers, then what was rounded', (id) => {
    const fit = fits(id);
    const lines = render(id).text.split('\n').filter((line) => line.startsWith('#'));
    expect(lines[0]).toBe(`# bendscope plan B ${planHash(PLAN.formats, SITES, CONTEXT)} fit: ${badgeText(fit)}, must match 48 layers`);
    expect(lines[1]).toBe(`# model gpt2 ${CONTEXT.modelSha256}, recipe nvfp4, Bendscope ${APP_VERSION}`);
    expect(lines.flatMap((line) => /^# {3}(\S+:\w+) nvfp4 -> bf16$/.exec(line)?.[1] ?? [])).toEqual(fit.rounded);
  });

  it('cannot be left by a name', () => {
    const name = 'a\n"b" \u2028 #\r\nimport os; \u0085 \\ 😀';
    for (const id of COMMENTED) {
      const rest = (text: string): string => text.split('\n').slice(1).join('\n').replace(/sha256:\S+/g, '');
      expect(rest(render(id, { ...PLAN, name }).text), id).toBe(rest(render(id).text));
    }
  });

  it('carries the switches of the recipe', () => {
    const context = contextOf(12, 'nvfp4', { rht: true, sr: true, seed: 7 });
    expect(render('te-debug', PLAN, context).text).toContain('recipe nvfp4 rht sr seed=7,');
    expect(render('te-debug', PLAN, context).text).toContain('NVFP4BlockScaling(disable_rht=False, disable_stochastic_rounding=False, disable_2d_quantization=False)');
    expect(render('megatron').text).toContain('NVTE_NVFP4_DISABLE_RHT=1 NVTE_NVFP4_DISABLE_STOCHASTIC_ROUNDING=1 --fp4-format e2m1 --fp4-recipe nvfp4');
    expect(render('te-factory', PLAN, context).text).toContain('with_rht=column and not weight, with_post_rht_amax=column and not weight, with_2d_quantization=weight, stochastic_rounding=grad');
  });
});

describe('the fit', () => {
  it('lists what a target rounds, and why', () => {
    expect(fits('te-debug')).toEqual({ badge: 'exact', rounded: [], reasons: [], warnings: [] });
    expect(fits('megatron')).toEqual({ badge: 'rounded', rounded: ['h.1.mlp.c_fc:fprop', 'h.1.mlp.c_fc:dgrad'], reasons: ['Megatron holds one format a layer, so a layer runs in the highest of its three passes'], warnings: [] });
    expect(badgeText(fits('megatron'))).toBe('2 sites rounded up');
    expect(fits('modelopt').rounded).toHaveLength(2 * 44 - 1);
    expect(fits('torchao-float8')).toMatchObject({ badge: 'cannot', reasons: ['torchao Float8 training has no nvfp4', 'nothing low of the plan would be left'] });
    const [mixed] = mixedPlans(12);
    expect(fits('te-debug', mixed!)).toMatchObject({ badge: 'rounded', reasons: ['TransformerEngine debug takes one low format a run, here nvfp4; mxfp8 is left out'] });
    expect(fits('megatron', mixed!)).toMatchObject({ badge: 'exact' });
    const [, twice] = mixedPlans(12);
    expect(fits('megatron', twice!).rounded).toEqual(SITES.filter(({ pass }) => pass !== 'fprop').map(({ id }) => id));
  });

  it('warns of widths that kernels refuse, and of switches a target has not', () => {
    const xl = plansOf(48, 'fp8-block').find(({ name }) => name === 'block protection')!;
    expect(fits('te-factory', xl, contextOf(48, 'fp8-block')).warnings).toEqual(['TransformerEngine takes fp8-block in multiples of 128; 160 layers have other widths, such as h.2.attn.c_attn, 1600 x 4800']);
    expect(fits('te-factory', plansOf(12, 'fp8-block')[0]!, contextOf(12, 'fp8-block')).warnings).toEqual([]);
    const odd = { ...CONTEXT, graph: gpt2Graph({ model: 'odd', layers: 12, width: 72, heads: 4, positions: 64, vocabulary: 1024, eps: 1e-5 }) };
    for (const id of ['te-debug', 'megatron', 'torchao']) expect(fits(id, PLAN, odd).warnings[0], id).toMatch(/takes nvfp4 in multiples of 16, of 32 where a GEMM sums over them; \d+ layers have other widths, such as h.0.attn.c_attn, 72 x 216/);
    expect(fits('modelopt', PLAN, odd).warnings[0]).toMatch(/Model Optimizer takes nvfp4 in multiples of 16; 44 layers/);
    expect(fits('te-debug', plansOf(12, 'mxfp8')[0]!, contextOf(12, 'mxfp8', { floor: true })).warnings).toEqual(['TransformerEngine debug: MX scales are rounded up, and the plan was measured with them rounded down (floor)']);
    expect(fits('torchao', PLAN, contextOf(12, 'nvfp4', { weights1d: true })).warnings).toEqual([]);
  });

  // Widths at which each format is refused, by hand from TransformerEngine: assert_dim_for_fp8_exec and lda % 16 of FP8, is_quantizable
  // of MXFP8 (32) and of blocks (128), 16 of NVFP4's quantizer and Hadamard transform, 32 of its GEMM along the sum.
  it.each([
    ['fp8', [16, 48, 1600], [8, 24, 72]],
    ['fp8-block', [128, 768], [64, 192, 1600]],
    ['mxfp8', [32, 96, 1600], [16, 48, 80]],
    ['nvfp4', [32, 96, 1600], [16, 48, 24]],
  ] as const)('%s: TransformerEngine takes widths %j and refuses %j', (low, taken, refused) => {
    const warned = (width: number): boolean => {
      const graph = gpt2Graph({ model: 'w', layers: 1, width, heads: 1, positions: 64, vocabulary: 1024, eps: 1e-5 });
      const all: Plan = { ...PLAN, formats: Object.fromEntries(costedSites(graph, low).map(({ id }) => [id, low])) };
      return ['te-debug', 'te-factory', 'megatron'].every((id) => fits(id, all, { ...contextOf(12, low), graph }).warnings.some((words) => words.includes('in multiples of')));
    };
    expect(taken.filter(warned)).toEqual([]);
    expect(refused.filter((width) => !warned(width))).toEqual([]);
  });

  it('asks of NVFP4 only the widths that its low GEMMs sum over', () => {
    const graph = gpt2Graph({ model: 'w', layers: 1, width: 48, heads: 3, positions: 64, vocabulary: 1024, eps: 1e-5 });
    const low = (...names: string[]): string[] => fits('te-factory', { ...PLAN, formats: Object.fromEntries(names.map((name) => [name, 'nvfp4' as const])) }, { ...CONTEXT, graph }).warnings.map((words) => words.replace(/^.*; /, ''));
    // c_fc is 48 x 192: fprop sums over 48, dgrad over 192, wgrad over tokens.
    expect(low('h.0.mlp.c_fc:fprop')).toEqual(['1 layer has other widths, such as h.0.mlp.c_fc, 48 x 192']);
    expect(low('h.0.mlp.c_fc:dgrad', 'h.0.mlp.c_fc:wgrad')).toEqual([]);
    expect(low('h.0.mlp.c_proj:dgrad')).toEqual(['1 layer has other widths, such as h.0.mlp.c_proj, 192 x 48']);
    // torchao runs forward passes only.
    const all: Plan = { ...PLAN, formats: Object.fromEntries(costedSites(graph, 'nvfp4').map(({ id, node }) => [id, node === 'h.0.mlp.c_proj' ? 'nvfp4' : 'bf16'])) };
    expect([fits('torchao', all, { ...contextOf(12, 'nvfp4', { weights1d: true }), graph }).warnings, fits('megatron', all, { ...CONTEXT, graph }).warnings.length]).toEqual([[], 1]);
  });

  it('is cannot where layers have no names of their own', () => {
    const context = { ...CONTEXT, names: { preset: 'te', root: 'layer' } } as const;
    expect(fits('te-debug', PLAN, context)).toMatchObject({ badge: 'cannot' });
    expect(() => render('te-debug', PLAN, context)).toThrow('TransformerEngine debug YAML: expected a plan that it can express, got B: names: expected one layer called layer.self_attention.layernorm_linear_qkv');
  });
});

describe('block protection', () => {
  it('gives Megatron its flags', () => {
    const plan = plansOf(48, 'mxfp8').find(({ name }) => name === 'block protection')!;
    expect(blockProtection(viewPlan(plan, contextOf(48)))).toEqual({ first: 2, last: 6, scheme: 'mxfp8' });
    expect(render('megatron', plan, contextOf(48, 'mxfp8')).text).toContain('# the same plan without this file: --fp8-format e4m3 --fp8-recipe mxfp8 --first-last-layers-bf16 --num-layers-at-start-in-bf16 2 --num-layers-at-end-in-bf16 6\n');
  });

  it('is no other plan', () => {
    const found = [...plansOf(12, 'nvfp4'), ...mixedPlans(12)].flatMap((plan) => {
      const blocks = blockProtection(viewPlan(plan, CONTEXT));
      return blocks ? [[plan.name, blocks.first, blocks.last]] : [];
    });
    expect(found).toEqual([['All low', 0, 0], ['block protection', 0, 2], ['layer 1 low', 1, 10]]);
    for (const name of ['All low', 'layer 1 high']) expect(render('megatron', plansOf(12, 'nvfp4').find((plan) => plan.name === name)).text).not.toContain('without this file');
  });
});

describe('op-group outputs', () => {
  it('go to allocation.json and CSV only', () => {
    for (const target of EXPORT_TARGETS) {
      const fit = target.fits(OUT_PLAN, OUT_CONTEXT);
      expect(fit.badge, target.id).toBe(target.selectors === null ? 'exact' : 'cannot');
      if (target.selectors) expect(fit.reasons, target.id).toContain('op-group outputs (:out) export as allocation.json and CSV only');
    }
    const both: Plan = { ...PLAN, formats: { ...PLAN.formats, 'h.0.ln_1:out': 'fp8-out' } };
    expect(fits('te-factory', both)).toMatchObject({ badge: 'rounded', rounded: ['h.0.ln_1:out'] });
    expect(render('te-factory', both).text).toContain('#   h.0.ln_1:out fp8-out -> bf16\n');
    expect(fits('allocation', both)).toMatchObject({ badge: 'rounded', rounded: ['h.0.ln_1:out'] });
    expect(fits('csv', both).badge).toBe('exact');
  });

  it('come back from allocation.json', () => {
    expect(importAllocation(render('allocation', OUT_PLAN, OUT_CONTEXT).text, OUT_CONTEXT).plan).toEqual(OUT_PLAN);
    expect(importAllocation(render('allocation').text, CONTEXT).plan).toEqual(PLAN);
  });
});

describe('CSV', () => {
  const measured: SiteResult = {
    status: 'measured', angleDeg: 6.8, cleanAngleDeg: 6.7, angleSeDeg: 0.1, belowNoise: false, relativeShift: 0.12, lengthRatio: 1.01, rotationShare: 0.99, lossChange: -0.001, localError: 0.005,
    blockAngleDeg: {}, layerAngleDeg: {}, perBatch: [], elapsedMs: 1,
  };
  const rows = (plan: Plan, context = CONTEXT): Record<string, string>[] => {
    const [head = '', ...lines] = render('csv', plan, context).text.split('\r\n').slice(0, -1);
    const cells = (line: string): string[] => [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, cell = '']) => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell));
    return lines.map((line) => Object.fromEntries(cells(head).map((column, i) => [column, cells(line)[i] ?? ''])));
  };

  it('gives every plan back, of passes, outputs or both', () => {
    for (const plan of [PLAN, ...mixedPlans(12)]) expect(Object.fromEntries(rows(plan).map(({ site, format }) => [site, format]))).toEqual(plan.formats);
    expect(Object.fromEntries(rows(OUT_PLAN, OUT_CONTEXT).map(({ site, format }) => [site, format]))).toEqual(OUT_PLAN.formats);
    expect(rows(OUT_PLAN, OUT_CONTEXT)).toHaveLength(123);
    expect(rows({ ...PLAN, formats: { ...PLAN.formats, 'wte:out': 'fp8-out' } })).toHaveLength(145);
  });

  it('holds what only the page knows, where it is known', () => {
    const [a, b] = ['h.0.attn.c_attn:fprop', 'h.0.attn.c_attn:dgrad'];
    const shift = { draws: 8, relative: 0.02, standardError: 0.004, share: 0.1 };
    const facts = { ...CONTEXT.facts, sites: { [a]: { ...measured, perBatch: Array.from({ length: 4 }, () => ({ ...measured })), persistent: { overBatches: shift, overDraws: { reason: 'no sr' } } }, [b]: { ...measured, angleDeg: 0.4 } } };
    const table: TableFacts = {
      measuredHere: new Set([a]), ranks: new Map([[a, 1]]), leftOut: { [a]: { ...measured, angleDeg: 30 } }, takenAwayDeg: new Map([[a, -0.5]]), scores: { [a]: { firstOrder: 1e-5, snip: null } },
      other: { fp8: { [b]: { ...measured, angleDeg: 0.7, cleanAngleDeg: 0.6 } } },
    };
    const mixed: Plan = { ...PLAN, formats: { ...PLAN.formats, [b]: 'mxfp8' } };
    const context = { ...CONTEXT, facts: { ...facts, otherAngles: { [b]: { angleDeg: { nvfp4: 5, mxfp8: 0.4 }, cleanDeg: { nvfp4: 4.9, mxfp8: 0.3 } } } }, table };
    const [first, second, third] = rows(mixed, context);
    expect(first).toMatchObject({
      measured_here: 'true', angle_format: 'nvfp4', persistent_batches: '0.02', persistent_batches_se: '0.004', persistent_draws: '', persistent_draws_se: '', batches: '4', rank: '1', left_out_angle_deg: '30',
      left_out_takes_away_deg: '-0.5', first_order: '0.00001', snip: '', angle_deg_fp8: '', clean_angle_deg_fp8: '',
    });
    // Figures of the format it runs in; those of further formats beside them, from results or from the plan's file.
    expect(second).toMatchObject({ format: 'mxfp8', angle_format: 'mxfp8', angle_deg: '0.4', measured_here: 'false', angle_deg_fp8: '0.7', clean_angle_deg_fp8: '0.6', angle_deg_mxfp8: '0.4', clean_angle_deg_mxfp8: '0.3' });
    expect(third).toMatchObject({ angle_format: '', batches: '', first_order: '' });
    expect(Object.keys(rows(PLAN)[0]!).filter((column) => column !== '')).toEqual([...SITE_COLUMNS]);
    expect(rows(PLAN)[0]).toMatchObject({ measured_here: '', rank: '', left_out_angle_deg: '' });
  });

  it('holds what was measured, and runs no formula', () => {
    const facts = { ...CONTEXT.facts, sites: { 'h.0.attn.c_attn:fprop': measured, 'h.0.attn.c_attn:dgrad': { status: 'failed', errorName: 'E-RUN-01', reason: 'Loss became "NaN",\nstopped' } as const } };
    const [first, second, third] = rows({ ...PLAN, name: '=HYPERLINK("x"), B', locked: { 'h.0.attn.c_attn:wgrad': true } }, { ...CONTEXT, facts });
    expect(first).toMatchObject({ layer: '0', op: 'attn.c_attn', pass: 'fprop', status: 'measured', angle_deg: '6.8', loss_change_nats: '-0.001', below_noise: 'false', plan: '\'=HYPERLINK("x"), B' });
    expect(second).toMatchObject({ status: 'failed', angle_deg: '', reason: 'E-RUN-01: Loss became "NaN",\nstopped' });
    expect(third).toMatchObject({ status: 'unmeasured', locked: 'true' });
  });
});

it('golden files: a plan of three formats on two layers', async () => {
  const graph = gpt2Graph({ model: 'gpt2-nano', layers: 2, width: 64, heads: 4, positions: 64, vocabulary: 1024, eps: 1e-5 });
  const formats: Record<string, SiteFormat> = Object.fromEntries(costedSites(graph, 'nvfp4').map(({ id, node, pass }) => [id, node === 'h.1.mlp.c_proj' ? 'bf16' : id === 'h.0.mlp.c_fc:wgrad' ? 'fp8' : pass === 'fprop' && node === 'h.0.attn.c_attn' ? 'fp8' : 'nvfp4']));
  const plan: Plan = { name: 'small', notes: '', locked: {}, formats };
  for (const target of EXPORT_TARGETS.filter(({ selectors }) => selectors !== null)) {
    const { fileName, text } = target.render(plan, { ...CONTEXT, graph, options: { rht: true, sr: true } });
    await expect(text.replaceAll(`Bendscope ${APP_VERSION}`, 'Bendscope VERSION')).toMatchFileSnapshot(`../../../e2e/golden/exports/files/${fileName}`);
    if (fileName.endsWith('.yaml')) expect(Object.keys(parse(text) as object).length).toBeGreaterThan(1);
  }
});
