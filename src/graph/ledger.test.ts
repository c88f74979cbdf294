/** The ledger against figures counted by hand; against the buffers that are really made: src/engine/ledger.test.ts. */
import { describe, expect, it } from 'vitest';
import { gpt2Graph } from '../models/gpt2';
import { predictLedger, probeRun, RESIDENT_BYTES } from './ledger';
import { REFERENCE_POLICY, type Policy } from './policy';
import { paintableSites } from './sites';

const SMALL = gpt2Graph({ model: 'gpt2', layers: 12, width: 768, heads: 12, positions: 1024, vocabulary: 50257, eps: 1e-5 });
const MINI = gpt2Graph({ model: 'gpt2-mini', layers: 6, width: 128, heads: 4, positions: 128, vocabulary: 1024, eps: 1e-5 });
const SHAPE = { sequences: 2, tokens: 256 };
const ROWS = 512;
/** Of GPT-2: the block linears' weights, and everything else. */
const [LINEARS, OTHERS] = [12 * 12 * 768 * 768, 124_439_808 - 12 * 12 * 768 * 768];
const TABLE = 50257 * 768;
const nodes = paintableSites(SMALL, 'fp8-out').map((site) => site.node);
const low = (outs: readonly string[], options = {}): Policy => ({ ...REFERENCE_POLICY, outs, options });
const plan = (policy: Policy) => predictLedger(SMALL, SHAPE, { kind: 'plan', policy });

describe('the ledger of a plan run on GPT-2', () => {
  const bf16 = plan(REFERENCE_POLICY);

  it('counts parameters where floats and GEMMs read them, the tied table twice', () => {
    expect(bf16.weightBytes).toBe(4 * OTHERS + 2 * (LINEARS + TABLE));
    expect(bf16.parameterGradientBytes).toBe(4 * (124_439_808 + TABLE));
    expect(plan({ ...REFERENCE_POLICY, reference: 'fp32' }).weightBytes).toBe(4 * 124_439_808);
  });

  it('counts the activations of formats.md 5.0, the two that only feed a sum, and padding to four', () => {
    // attn.c_proj and mlp.c_proj 2C each a layer; logits of 50260; mean, rstd of 25 norms, four statistics of the loss.
    expect(bf16.activationBytes).toEqual({ BF16: ROWS * (398_498 + 12 * 4 * 768 + 2 * 3), FP32: ROWS * 4 * (2 * 25 + 4) });
    expect(plan({ ...REFERENCE_POLICY, reference: 'fp32' }).activationBytes).toEqual({ FP32: ROWS * (2 * (398_498 + 12 * 4 * 768 + 2 * 3) + 4 * 54) });
  });

  it('counts a byte an element of a low group, with its scales', () => {
    const elements = ROWS * (398_498 + 12 * 4 * 768 + 2 * 3) / 2;
    const all = plan(low(nodes));
    expect(all.activationBytes).toEqual({ E4M3: elements + 32 * nodes.length, FP32: bf16.activationBytes.FP32 });
    // A block of 32 has a scale of a byte; a row of scales begins at a word, a row of codes at 64 elements.
    expect(plan(low(['h.3.mlp.act'], { out: 'mx' })).activationBytes.E4M3).toBe(ROWS * (3072 + 3072 / 32) + 32);
    expect(plan(low(['h.3.mlp.act'])).activationBytes.BF16).toBe((bf16.activationBytes.BF16 ?? 0) - ROWS * 3072 * 2);
    // No gradient is kept beside the arriving ones: a projection's, whose arriving one is a sum's, passes through scratch.
    expect(all.gradientBytes).toBe(bf16.gradientBytes);
    expect(plan(low(['h.3.mlp.c_proj'])).scratchBytes - plan(low(['h.3.mlp.act'])).scratchBytes).toBe(ROWS * (768 + 768 - 3072) * 2);
  });

  it('adds up', () => {
    for (const run of [bf16, plan(low(nodes, { out: 'block' }))]) {
      const { weightBytes, activationBytes, gradientBytes, parameterGradientBytes, scratchBytes, totalBytes } = run;
      expect(totalBytes).toBe(weightBytes + Object.values(activationBytes).reduce((a, b) => a + b, 0) + gradientBytes + parameterGradientBytes + scratchBytes);
    }
  });
});

describe('what a probe keeps', () => {
  const measuring = { recipe: 'nvfp4', options: {}, persistent: true } as const;
  const batch = { sequences: 4, tokens: 128 };

  it('is every reference run that fits, shifts only where they fit beside them', () => {
    expect(probeRun(MINI, batch, 4, measuring)).toMatchObject({ batches: 4, shiftSets: 0 });
    expect(probeRun(MINI, batch, 8, measuring)).toMatchObject({ batches: 8, shiftSets: 8 });
    expect(probeRun(MINI, batch, 12, { ...measuring, options: { sr: true } })).toMatchObject({ batches: 12, shiftSets: 12 });
    expect(probeRun(MINI, batch, 4, { ...measuring, options: { sr: true } })).toMatchObject({ batches: 4, shiftSets: 8 });
    expect(probeRun(MINI, batch, 8, { ...measuring, persistent: false })).toMatchObject({ batches: 8, shiftSets: 0 });
    expect(probeRun(SMALL, batch, 8, { ...measuring, options: { sr: true } })).toMatchObject({ batches: 1, shiftSets: 8 });
    expect(probeRun(SMALL, batch, 8, measuring)).toMatchObject({ batches: 1, shiftSets: 0 });
  });

  it('stays below its bound, and one batch more would not', () => {
    const most = Array.from({ length: 60 }, (_, i) => i + 1).filter((k) => probeRun(MINI, batch, k, { ...measuring, persistent: false }).batches === k).at(-1)!;
    const bytes = (batches: number) => predictLedger(MINI, batch, { kind: 'probe', recipe: 'nvfp4', batches }).totalBytes;
    expect(bytes(most)).toBeLessThanOrEqual(RESIDENT_BYTES);
    expect(bytes(most + 1)).toBeGreaterThan(RESIDENT_BYTES);
  });

  it('holds packed outputs once, in the work set, and only where something lowers them', () => {
    const of = (run: object) => predictLedger(MINI, batch, { kind: 'probe', recipe: 'nvfp4', batches: 3, ...run });
    expect(of({}).activationBytes).not.toHaveProperty('E4M3');
    const outs = of({ recipe: 'fp8-out' });
    expect(outs.activationBytes.E4M3).toBe(512 * (27_136 + 6 * 4 * 128) / 2 + 32 * 63);
    expect(outs.activationBytes.BF16).toBe(of({}).activationBytes.BF16);
    expect(of({ outs: { out: 'mx' } }).activationBytes.E4M3).toBe(of({ recipe: 'fp8-out', options: { out: 'mx' } }).activationBytes.E4M3);
    const parameters = of({ shiftSets: 2 }).parameterGradientBytes - of({}).parameterGradientBytes;
    expect(parameters).toBe(2 * 4 * MINI.params.reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0));
  });
});
