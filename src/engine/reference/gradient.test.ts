/**
 * The float64 reference against the PyTorch reference (e2e/golden/nano), which also sums in float64: every value of every
 * node bit for bit, parameter gradients to the FP32 the files hold, metrics and floors to their six digits. Every recipe: recipes.test.ts.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { gradientSums } from '../../base/angle';
import { REFERENCE_POLICY } from '../../graph/policy';
import { batch, golden, graph, lowPolicy, measure, nearSixDigits, params, tensors } from './golden-nano';
import { referenceGradient, type ReferenceRun } from './gradient';

function worstRelativeL2(gradient: ReadonlyMap<string, Float64Array>, expected: ReadonlyMap<string, Float64Array>): number {
  expect([...gradient.keys()].sort()).toEqual([...expected.keys()].sort());
  return Math.max(...[...expected].map(([name, r]) => {
    const { dd, rr } = gradientSums(gradient.get(name) ?? [], r);
    return Math.sqrt(dd / rr);
  }));
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

  it('gives the bf16 and fp32 gradients and losses of the golden', () => {
    const fp32 = referenceGradient(graph, params, batch, { ...REFERENCE_POLICY, reference: 'fp32' });
    for (const [run, file] of [[reference, 'gradient-bf16'], [fp32, 'gradient-fp32']] as const) {
      const { values, metadata } = tensors(`e2e/golden/nano/${file}.safetensors`);
      expect(worstRelativeL2(run.gradient, values)).toBeLessThan(FP32_ROUNDING);
      expect(run.loss).toBeCloseTo(Number(metadata['loss']), 12);
    }
    nearSixDigits(reference.loss, golden.reference_loss[0]?.[0] ?? NaN);
  });

  it.each(['h.0.attn.c_attn:fprop', 'h.1.mlp.c_proj:dgrad', 'h.0.mlp.c_fc:wgrad'])('gives the NVFP4 metrics of %s', (site) => {
    const expected = golden.sites['nvfp4']?.[site]?.[0]?.[0];
    const { metrics, lossChange } = measure(lowPolicy('nvfp4', [site]), reference);
    nearSixDigits(metrics.angleDeg, expected?.angle_deg ?? NaN);
    nearSixDigits(metrics.relativeShift, expected?.relative_shift ?? NaN);
    nearSixDigits(metrics.lengthRatio, expected?.length_ratio ?? NaN);
    nearSixDigits(metrics.rotationShare, expected?.rotation_share ?? NaN);
    // A difference of two losses near 5, whose float64 sums agree to about 1e-12.
    expect(Math.abs(lossChange - (expected?.loss_change ?? NaN))).toBeLessThanOrEqual(5.1e-6 * Math.abs(expected?.loss_change ?? 0) + 1e-12);
  });

  it('gives the angles of one flipped ulp', () => {
    const [wte = '', , , lnF = ''] = golden.flipped_nodes;
    nearSixDigits(measure(REFERENCE_POLICY, reference, { flip: { node: wte, what: 'y', index: 12345 } }).metrics.angleDeg, golden.floor_forward_deg[0]?.[0] ?? NaN);
    nearSixDigits(measure(REFERENCE_POLICY, reference, { flip: { node: lnF, what: 'dy', index: 12345 } }).metrics.angleDeg, golden.floor_backward_deg[0]?.[3] ?? NaN);
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
