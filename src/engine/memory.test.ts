/**
 * The memory plan is what a session allocates, to the byte, and a session gives everything back: after dispose, and when
 * it could not be made, wherever that failed. Runs after the first allocate nothing.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { BendscopeError } from '../base/errors';
import { sharedGpu } from '../gpu/device-fixture';
import type { Gpu } from '../gpu/gpu';
import { REFERENCE_POLICY, type Policy } from '../graph/policy';
import { paintableSites } from '../graph/sites';
import { planMemory, type SessionUse } from './memory';
import { tensorBytes } from './program';
import { graph, params, SHAPE, tokensOf } from './run-fixture';
import { Session } from './session';
import type { Variant } from './run';
import { Values } from './values';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await sharedGpu();
});
afterAll(() => expect(gpu.liveBuffers).toBe(0));

/** Labels and bytes of the buffers made meanwhile. */
async function allocations(work: () => Promise<unknown>): Promise<{ label: string; bytes: number }[]> {
  const create = vi.spyOn(gpu, 'createBuffer');
  try {
    await work();
    return create.mock.results.flatMap(({ type, value }) => (type === 'return' ? [{ label: value.label, bytes: value.size }] : []));
  } finally {
    create.mockRestore();
  }
}
const sum = (list: readonly { bytes: number }[]): number => list.reduce((total, { bytes }) => total + bytes, 0);

const USES: [string, SessionUse][] = [
  ['a probe of passes', {}],
  ['three resident batches', { batches: 3 }],
  ['a probe of op groups, blocks, shifts kept', { outs: { out: 'block' }, batches: 2, shiftSets: 3 }],
  ['a plan in fp32', { plan: { ...REFERENCE_POLICY, reference: 'fp32' } }],
  ['a plan with low outputs', { plan: { ...REFERENCE_POLICY, outs: ['wte', 'h.0.mlp.act', 'lm_head'], options: { out: 'mx' } } }],
  ['the same, kept unpacked', { plan: { ...REFERENCE_POLICY, outs: ['wte', 'h.0.mlp.act', 'lm_head'] }, cache: 'unpacked' }],
];

describe('the plan', () => {
  it.each(USES)('%s: every byte, and all of it comes back', async (_name, use) => {
    const plan = planMemory(graph, SHAPE, use);
    let session: Session | null = null;
    const made = await allocations(async () => {
      session = await Session.create(gpu, graph, params, SHAPE, use);
    });
    expect(sum(made)).toBe(plan.totalBytes);
    expect(gpu.liveBytes).toBe(plan.totalBytes);
    // The executor makes the first block of Params slots.
    expect(made.length).toBe(plan.buffers.length + 1);
    const created = session as Session | null;
    expect(created?.memory).toEqual(plan);
    created?.dispose();
    expect([gpu.liveBuffers, gpu.liveBytes]).toEqual([0, 0]);
  });

  it.each(USES)('%s: names every buffer once, in a set that exists, in whole 16 bytes', (_name, use) => {
    const { buffers, places } = planMemory(graph, SHAPE, use);
    expect(new Set(buffers.map(({ key, set }) => `${set} ${key}`)).size).toBe(buffers.length);
    expect(buffers.every(({ bytes }) => bytes > 0 && bytes % 16 === 0)).toBe(true);
    const sets = ['shared', ...(use.plan ? [] : ['work']), ...Array.from({ length: use.batches ?? 1 }, (_, k) => `batch ${k}`), ...Array.from({ length: use.shiftSets ?? 0 }, (_, k) => `shift ${k}`)];
    expect(new Set(buffers.map(({ set }) => set))).toEqual(new Set(sets));
    // Parameter gradients have no second copy: a variant's sit in scratch while they are compared.
    expect(buffers.filter(({ key, set }) => key.startsWith('dw:') && set === 'work')).toEqual([]);
    // What takes another's place has none of its own, and the place is large enough.
    const bytesOf = (key: string): number[] => buffers.filter((buffer) => buffer.key === key).map(({ bytes }) => bytes);
    for (const [key, place] of places) {
      expect(bytesOf(key), key).toEqual([]);
      const node = new Values(graph).node(key.slice(key.indexOf(':') + 1));
      expect(Math.min(...bytesOf(place)), place).toBeGreaterThanOrEqual(tensorBytes(SHAPE.sequences * SHAPE.tokens, node.cols, true));
    }
  });

  it('grows by one reference set a resident batch', () => {
    const [one = 0, two = 0, three = 0] = [1, 2, 3].map((batches) => planMemory(graph, SHAPE, { batches }).totalBytes);
    expect(three - two).toBe(two - one);
    expect(two - one).toBeGreaterThan(graph.params.reduce((total, { shape }) => total + 4 * shape.reduce((a, b) => a * b, 1), 0));
  });

  it('a plan pays for low passes or low outputs only where it has them', () => {
    const lowKeys = (plan: Partial<Policy>): string[] => planMemory(graph, SHAPE, { plan: { ...REFERENCE_POLICY, ...plan } }).buffers
      .map(({ key }) => key).filter((key) => /^(low|scratch:(d?y$|x\d|q:))/.test(key));
    expect(lowKeys({})).toEqual([]);
    expect(lowKeys({ outs: ['h.0.mlp.act'] }).sort()).toEqual(['low:alpha', 'scratch:q:record', 'scratch:y']);
    expect(lowKeys({ passes: { 'h.0.mlp.c_fc:fprop': 'fp8' } }).filter((key) => !/^low:([ab]:\w+|rht|alpha)$/.test(key))).toEqual([]);
  });

  it('pays for op groups where variants may lower some, and for nothing else', () => {
    const keys = (use: SessionUse): string[] => planMemory(graph, SHAPE, use).buffers.map(({ key, set }) => `${set} ${key}`);
    const plain = new Set(keys({}));
    const more = keys({ outs: {} }).filter((key) => !plain.has(key));
    expect(more.filter((key) => !/^(work (y8|yr):|shared scratch:(y|dy|x0|x1|q:\w+)$)/.test(key))).toEqual([]);
    expect(more.filter((key) => key.startsWith('work y8:')).length).toBe(paintableSites(graph, 'fp8-out').length);
  });
});

describe('a session', () => {
  const VARIANTS: Variant[] = [
    { policy: { reference: 'bf16', passes: { 'h.0.attn.c_attn:fprop': 'nvfp4' }, options: {} }, localErrorOf: 'h.0.attn.c_attn:fprop' },
    { policy: { reference: 'bf16', passes: {}, outs: ['h.1.mlp.c_fc', 'ln_f'], options: {} }, localErrorOf: 'ln_f:out', keepShift: 1 },
    { flip: { node: 'ln_f', what: 'dy', index: 3 } },
  ];

  it('allocates nothing while it runs and is read, and no bind group twice', async () => {
    const session = await Session.create(gpu, graph, params, SHAPE, { outs: {}, shiftSets: 2 });
    const runs = async (): Promise<void> => {
      session.setBatch(tokensOf(0));
      await session.runReference();
      for (const variant of VARIANTS) await session.runVariant(variant);
      await session.readGradient();
    };
    try {
      expect(await allocations(runs)).toEqual([]);
      expect(session.allocated.totalBytes).toBe(session.memory.totalBytes);
      const groups = vi.spyOn(gpu, 'bindGroup');
      expect(await allocations(runs)).toEqual([]);
      expect(groups).not.toHaveBeenCalled();
      groups.mockRestore();
    } finally {
      session.dispose();
    }
    expect([gpu.liveBuffers, gpu.liveBytes]).toEqual([0, 0]);
  });

  it('gives everything back after runs that were cancelled', async () => {
    const session = await Session.create(gpu, graph, params, SHAPE);
    try {
      session.setBatch(tokensOf(0));
      await expect(session.runReference(undefined, () => {
        throw new BendscopeError('E-RUN-01', 'cancelled');
      })).rejects.toThrow('cancelled');
    } finally {
      session.dispose();
    }
    expect([gpu.liveBuffers, gpu.liveBytes]).toEqual([0, 0]);
  });
});

describe('a session that cannot be made leaves nothing', () => {
  const without = (name: string): Map<string, Float32Array> => new Map([...params].filter(([key]) => key !== name));
  const cut = (name: string): Map<string, Float32Array> => new Map([...params].map(([key, values]) => [key, key === name ? values.subarray(1) : values]));

  it.each([
    ['a parameter is missing', without('h.1.mlp.c_proj.weight'), SHAPE, /h\.1\.mlp\.c_proj\.weight: expected \d+ values, got none/],
    ['a parameter is too short', cut('ln_f.bias'), SHAPE, /ln_f\.bias: expected 64 values, got 63/],
    ['windows are too long', params, { sequences: 1, tokens: 65 }, /expected 1 to 64 tokens/],
    ['there is no sequence', params, { sequences: 0, tokens: 8 }, /got 0 x 8/],
  ])('%s', async (_what, given, shape, message) => {
    await expect(Session.create(gpu, graph, given, shape)).rejects.toThrow(message);
    expect([gpu.liveBuffers, gpu.liveBytes]).toEqual([0, 0]);
  });

  it.each(['shared/param:wte.weight', 'batch 0/dw:wte.weight', 'work/y:ln_f', 'shared/sums', 'shared/staging'])('the device refuses %s', async (refused) => {
    const real = gpu.createBuffer.bind(gpu);
    const create = vi.spyOn(gpu, 'createBuffer').mockImplementation((label, bytes, usage) => {
      if (label === refused) throw new BendscopeError('E-MEM-01', `${label}: refused`);
      return real(label, bytes, usage);
    });
    try {
      await expect(Session.create(gpu, graph, params, SHAPE)).rejects.toMatchObject({ name: 'E-MEM-01', message: `${refused}: refused` });
    } finally {
      create.mockRestore();
    }
    expect([gpu.liveBuffers, gpu.liveBytes]).toEqual([0, 0]);
  });

  it('a buffer beyond the device\'s limit is E-MEM-01 before anything is asked of the device', async () => {
    const wide = { ...graph, params: graph.params.map((p) => (p.name === 'wte.weight' ? { ...p, shape: [2 ** 26, 64] } : p)) };
    await expect(Session.create(gpu, wide, params, SHAPE)).rejects.toMatchObject({ name: 'E-MEM-01' });
    expect([gpu.liveBuffers, gpu.liveBytes]).toEqual([0, 0]);
  });
});
