/**
 * The float64 reference against the PyTorch reference (e2e/golden/nano), which also sums in float64: every value of every
 * node bit for bit, parameter gradients to the FP32 the files hold, NVFP4 angles, local errors and floors to their six digits.
 */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { gradientMetrics, gradientSums, type GradientMetrics } from '../../base/angle';
import { REFERENCE_POLICY, type PassScheme, type Policy } from '../../graph/policy';
import { paintableSites, parseSiteId } from '../../graph/sites';
import { gpt2Graph } from '../../models/gpt2';
import { referenceGradient, type ReferenceFlip, type ReferenceRun } from './gradient';
import { linearPass } from './linear';
import type { ReferenceCall } from './op';

interface Golden {
  readonly reference_loss: readonly (readonly number[])[];
  readonly sites: { readonly nvfp4: Readonly<Record<string, readonly (readonly Metric[])[]>> };
  readonly joint: Readonly<Record<string, readonly (readonly Metric[])[]>>;
  readonly local_error: { readonly nvfp4: Readonly<Record<string, number>> };
  readonly floor_forward_deg: readonly (readonly number[])[];
  readonly floor_backward_deg: readonly (readonly number[])[];
  readonly flipped_nodes: readonly string[];
}
interface Metric {
  readonly angle_deg: number;
  readonly relative_shift: number;
  readonly length_ratio: number;
  readonly rotation_share: number;
  readonly loss_change: number;
}

const graph = gpt2Graph({ model: 'gpt2-nano', layers: 2, width: 64, heads: 4, positions: 64, vocabulary: 1024, eps: 1e-5 });
const read = (path: string): Buffer => readFileSync(new URL(`../../../${path}`, import.meta.url));

/** Tensors and metadata of a safetensors file; an own reader, so that the oracle's test depends on no other code. */
function tensors(path: string): { values: Map<string, Float64Array>; metadata: Record<string, string> } {
  const file = read(path);
  const start = 8 + Number(file.readBigUInt64LE());
  const { __metadata__: metadata = {}, ...header } = JSON.parse(file.subarray(8, start).toString()) as Record<string, { dtype: string; data_offsets: [number, number] }>;
  const values = Object.entries(header).map(([name, { dtype, data_offsets: [from, to] }]): [string, Float64Array] => {
    const { buffer } = Uint8Array.from(file.subarray(start + from, start + to));
    if (dtype === 'F32') return [name, Float64Array.from(new Float32Array(buffer))];
    return [name, Float64Array.from(new Float32Array(Uint32Array.from(new Uint16Array(buffer), (bits) => bits << 16).buffer))];
  });
  return { values: new Map(values), metadata: metadata as unknown as Record<string, string> };
}

const params = tensors('public/models/gpt2-nano/model.safetensors').values;
const batch = (JSON.parse(read('e2e/golden/nano/tokens.json').toString()) as { batches: number[][][] }).batches[0] ?? [];
const golden = JSON.parse(read('e2e/golden/nano/angles.json').toString()) as Golden;

function worstRelativeL2(gradient: ReadonlyMap<string, Float64Array>, expected: ReadonlyMap<string, Float64Array>): number {
  expect([...gradient.keys()].sort()).toEqual([...expected.keys()].sort());
  return Math.max(...[...expected].map(([name, r]) => {
    const { dd, rr } = gradientSums(gradient.get(name) ?? [], r);
    return Math.sqrt(dd / rr);
  }));
}

function flat(run: ReferenceRun): Float64Array {
  return Float64Array.from(graph.params.flatMap(({ name }) => Array.from(run.gradient.get(name) ?? [])));
}

/** Six significant digits, as the golden holds them. */
function near(actual: number, expected: number): void {
  expect(Math.abs(actual - expected)).toBeLessThanOrEqual(5.1e-6 * Math.abs(expected));
}

// A file of FP32 values differs from float64 ones by at most half an FP32 ulp, 2^-24 of the value.
const FP32_ROUNDING = 2 ** -24;

describe('bf16 policy on 2 x 32 tokens', () => {
  const run = referenceGradient(graph, params, batch.slice(0, 2).map((row) => row.slice(0, 33)), REFERENCE_POLICY, { trace: true });

  it('gives y, dy, x and dx of every node, all 786,432 values, bit for bit', () => {
    const nodes = tensors('e2e/golden/nano/nodes.safetensors').values;
    let compared = 0;
    const different: string[] = [];
    for (const [name, expected] of nodes) {
      const mine = run.trace.get(name);
      expect(mine?.length, name).toBe(expected.length);
      compared += expected.length;
      expected.forEach((value, i) => {
        if (mine?.[i] !== value) different.push(`${name}[${i}]`);
      });
    }
    expect(compared).toBe(786_432);
    expect(different).toEqual([]);
  });

  it('gives every parameter gradient to the last FP32 bit', () => {
    expect(worstRelativeL2(run.gradient, tensors('e2e/golden/nano/nodes-gradient.safetensors').values)).toBeLessThan(FP32_ROUNDING);
  });
});

describe('4 x 64 tokens', () => {
  let reference: ReferenceRun;
  beforeAll(() => {
    reference = referenceGradient(graph, params, batch, REFERENCE_POLICY, { trace: true });
  });

  function against(policy: Policy, flip?: ReferenceFlip): { metrics: GradientMetrics; lossChange: number } {
    const run = referenceGradient(graph, params, batch, policy, flip ? { flip } : {});
    return { metrics: gradientMetrics(gradientSums(flat(run), flat(reference))), lossChange: run.loss - reference.loss };
  }
  function low(ids: readonly string[]): Policy {
    return { ...REFERENCE_POLICY, passes: Object.fromEntries(ids.map((id): [string, PassScheme] => [id, 'nvfp4'])) };
  }

  it('gives the bf16 and fp32 gradients and losses of the golden', () => {
    const fp32 = referenceGradient(graph, params, batch, { ...REFERENCE_POLICY, reference: 'fp32' });
    for (const [run, file] of [[reference, 'gradient-bf16'], [fp32, 'gradient-fp32']] as const) {
      const { values, metadata } = tensors(`e2e/golden/nano/${file}.safetensors`);
      expect(worstRelativeL2(run.gradient, values)).toBeLessThan(FP32_ROUNDING);
      expect(run.loss).toBeCloseTo(Number(metadata['loss']), 12);
    }
    near(reference.loss, golden.reference_loss[0]?.[0] ?? NaN);
  });

  it.each(['h.0.attn.c_attn:fprop', 'h.1.mlp.c_proj:dgrad', 'h.0.mlp.c_fc:wgrad'])('gives the NVFP4 metrics of %s', (site) => {
    const expected = golden.sites.nvfp4[site]?.[0]?.[0];
    const { metrics, lossChange } = against(low([site]));
    near(metrics.angleDeg, expected?.angle_deg ?? NaN);
    near(metrics.relativeShift, expected?.relative_shift ?? NaN);
    near(metrics.lengthRatio, expected?.length_ratio ?? NaN);
    near(metrics.rotationShare, expected?.rotation_share ?? NaN);
    // A difference of two losses near 5, whose float64 sums agree to about 1e-12.
    expect(Math.abs(lossChange - (expected?.loss_change ?? NaN))).toBeLessThanOrEqual(5.1e-6 * Math.abs(expected?.loss_change ?? 0) + 1e-12);
  });

  it('gives the joint angle of all 24 passes', () => {
    const { metrics } = against(low(paintableSites(graph).map((s) => s.id)));
    near(metrics.angleDeg, golden.joint['nvfp4:fprop+dgrad+wgrad']?.[0]?.[0]?.angle_deg ?? NaN);
  });

  it('gives the joint angles with 1x16 weights', () => {
    const options = { weights1d: true };
    const dgrad = against({ ...low(paintableSites(graph).filter((s) => s.pass === 'dgrad').map((s) => s.id)), options });
    near(dgrad.metrics.angleDeg, golden.joint['nvfp4-1d:dgrad']?.[0]?.[0]?.angle_deg ?? NaN);
    // alpha is FP32 here (formats.md 1.5) and float64 in the golden. Here, unlike above, that flips BF16 roundings (with a
    // float64 alpha all six digits agree), and what a flipped rounding moves is the noise floor of the golden.
    const all = against({ ...low(paintableSites(graph).map((s) => s.id)), options });
    const floorDeg = Math.hypot(...(golden.floor_forward_deg[0] ?? [])) / 2;
    expect(Math.abs(all.metrics.angleDeg - (golden.joint['nvfp4-1d:fprop+dgrad+wgrad']?.[0]?.[0]?.angle_deg ?? NaN))).toBeLessThan(floorDeg);
  });

  it('gives the angles of one flipped ulp', () => {
    const [wte = '', , , lnF = ''] = golden.flipped_nodes;
    near(against(REFERENCE_POLICY, { node: wte, what: 'y', index: 12345 }).metrics.angleDeg, golden.floor_forward_deg[0]?.[0] ?? NaN);
    near(against(REFERENCE_POLICY, { node: lnF, what: 'dy', index: 12345 }).metrics.angleDeg, golden.floor_backward_deg[0]?.[3] ?? NaN);
  });

  it('gives the local error of all 24 passes', () => {
    for (const [id, expected] of Object.entries(golden.local_error.nvfp4)) {
      const site = parseSiteId(graph, id);
      const attrs = graph.nodes.find((n) => n.id === site.node);
      const weight = params.get(`${site.node}.weight`);
      const [x, dy] = [reference.trace.get(`${site.node}/x0`), reference.trace.get(`${site.node}/dy`)];
      if (!attrs || !weight || !x || !dy) throw new Error(id);
      const call: ReferenceCall = { attrs, sequences: 4, tokens: 64, inputs: [x], params: { weight }, rounding: 'bf16' };
      const { dd, rr } = gradientSums(linearPass({ ...call, low: { [site.pass]: 'nvfp4' } }, site.pass, dy), linearPass(call, site.pass, dy));
      near(dd / rr, expected);
    }
  });
});

describe('what it refuses', () => {
  it.each<[string, number[][], string]>([
    ['a token outside the vocabulary', [[0, 1024]], 'E-DATA-02'],
    ['ragged rows', [[0, 1, 2], [0, 1]], 'E-DATA-03'],
    ['nothing', [], 'E-DATA-03'],
  ])('%s', (_, tokens, name) => {
    expect(() => referenceGradient(graph, params, tokens, REFERENCE_POLICY)).toThrow(expect.objectContaining({ name }) as Error);
  });
});
