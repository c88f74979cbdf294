/**
 * The same run gives the same bytes: in a second session, on a second device, cut into the smallest submissions, and
 * whether a batch's reference is kept or made again. Figures of a probe are only comparable because of this.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { BendscopeError } from '../base/errors';
import { sharedGpu } from '../gpu/device-fixture';
import { openNodeDevice } from '../gpu/node-device';
import type { Gpu } from '../gpu/gpu';
import { bitsOfGradient, bitsOfRun, graph, params, SHAPE, tokensOf } from './run-fixture';
import { Session } from './session';
import type { Variant } from './run';

const VARIANTS: Variant[] = [
  ...['h.1.attn.c_attn:fprop', 'h.1.mlp.c_fc:dgrad', 'h.0.mlp.c_proj:wgrad'].map((site): Variant => ({ policy: { reference: 'bf16', passes: { [site]: 'nvfp4' }, options: {} }, localErrorOf: site })),
  { policy: { reference: 'bf16', passes: { 'h.1.mlp.c_fc:wgrad': 'nvfp4' }, outs: ['h.1.attn.c_proj', 'ln_f'], options: { sr: true } }, localErrorOf: 'ln_f:out' },
  { flip: { node: 'h.1.ln_1', what: 'y', index: 5 } },
];
const BATCHES = [tokensOf(0), tokensOf(1), tokensOf(2)];

type Bits = Record<string, unknown>;
/** Every reference run, its gradient, and every variant of every batch. */
async function everything(gpu: Gpu, places: number, { batches = BATCHES, variants = VARIANTS, targetMs }: { batches?: typeof BATCHES; variants?: Variant[]; targetMs?: number } = {}): Promise<Bits[]> {
  const session = await Session.create(gpu, graph, params, SHAPE, { batches: places, outs: {} }, targetMs);
  try {
    const out: Bits[] = [];
    for (const [k, tokens] of batches.entries()) {
      session.setBatch(tokens, k % places);
      out.push(bitsOfRun(await session.runReference()), bitsOfGradient(await session.readGradient()));
    }
    // Again from the first batch: with a place for each, nothing is run again; with one, every reference is.
    for (const [k, tokens] of batches.entries()) {
      session.setBatch(tokens, k % places);
      expect(session.referenceRun === null).toBe(places < batches.length);
      if (!session.referenceRun) await session.runReference();
      for (const variant of variants) out.push(bitsOfRun(await session.runVariant(variant)));
    }
    return out;
  } finally {
    session.dispose();
  }
}

describe('gpt2-nano, three batches', () => {
  let gpu: Gpu;
  let first: Bits[];
  beforeAll(async () => {
    gpu = await sharedGpu();
    first = await everything(gpu, BATCHES.length);
  });
  afterAll(() => expect(gpu.liveBuffers).toBe(0));

  it('batches and variants differ from each other', () => {
    expect(new Set(first.map((bits) => JSON.stringify(bits))).size).toBe(BATCHES.length * (2 + VARIANTS.length));
  });

  it('a second session', async () => {
    expect(await everything(gpu, BATCHES.length)).toEqual(first);
  });

  it('a second device', async () => {
    const other = await openNodeDevice();
    try {
      // Its pipelines are compiled anew, which is what costs here: the reference only.
      expect(await everything(other, BATCHES.length, { variants: [] })).toEqual(first.slice(0, 2 * BATCHES.length));
      expect(other.liveBuffers).toBe(0);
    } finally {
      other.device.destroy();
    }
  });

  it('one resident place instead of three', async () => {
    expect(await everything(gpu, 1)).toEqual(first);
  });

  it('after runs that were stopped halfway', async () => {
    // The smallest submissions, so that a run can be stopped anywhere.
    const session = await Session.create(gpu, graph, params, SHAPE, { outs: {} }, 1e-6);
    /** Throws at the n-th of the places where a run may be stopped. */
    const stopAt = (n: number) => (): void => {
      if (n-- <= 0) throw new BendscopeError('E-RUN-01', 'stopped');
    };
    try {
      session.setBatch(tokensOf(0));
      const reference = bitsOfRun(await session.runReference());
      const variants = VARIANTS.slice(0, 2);
      const expected: Bits[] = [];
      for (const variant of variants) expected.push(bitsOfRun(await session.runVariant(variant)));
      for (const n of [0, 40]) {
        for (const variant of variants) await expect(session.runVariant(variant, stopAt(n))).rejects.toThrow('stopped');
        const found: Bits[] = [];
        for (const variant of variants) found.push(bitsOfRun(await session.runVariant(variant)));
        expect(found).toEqual(expected);
      }
      await expect(session.runReference({ reference: 'bf16', passes: { 'h.0.attn.c_attn:fprop': 'nvfp4' }, options: {} }, stopAt(60))).rejects.toThrow('stopped');
      // Half of the reference set is another policy's now: nothing may be compared with it.
      expect(session.referenceRun).toBeNull();
      await expect(session.runVariant(variants[0] ?? {})).rejects.toThrow('run the reference policy first');
      expect(bitsOfRun(await session.runReference())).toEqual(reference);
      expect(bitsOfRun(await session.runVariant(variants[0] ?? {}))).toEqual(expected[0]);
    } finally {
      session.dispose();
    }
  });

  it('every GEMM of a linear in pieces of four rows', async () => {
    const batches = [tokensOf(0)];
    const plain = await submissions(gpu, () => everything(gpu, 1, { batches }));
    const cut = await submissions(gpu, () => everything(gpu, 1, { batches, targetMs: 1e-6 }));
    expect(plain.result.slice(0, 2)).toEqual(first.slice(0, 2));
    expect(cut.result).toEqual(plain.result);
    expect(cut.dispatches).toBeGreaterThan(3 * plain.dispatches);
    console.log(`dispatches: ${plain.dispatches} in ${plain.submits} submissions, cut: ${cut.dispatches} in ${cut.submits}`);
    expect(cut.submits).toBeGreaterThan(10 * plain.submits);
  });
});

/** Runs `work`, counting dispatches and submissions of the device meanwhile. */
async function submissions<T>(gpu: Gpu, work: () => Promise<T>): Promise<{ result: T; dispatches: number; submits: number }> {
  const pass = vi.spyOn(GPUComputePassEncoder.prototype, 'dispatchWorkgroups');
  const submit = vi.spyOn(gpu.device.queue, 'submit');
  try {
    const result = await work();
    return { result, dispatches: pass.mock.calls.length, submits: submit.mock.calls.length };
  } finally {
    pass.mockRestore();
    submit.mockRestore();
  }
}
