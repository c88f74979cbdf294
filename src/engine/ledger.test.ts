/**
 * The predicted ledger against the bytes that a session has: of each configuration every line that counts (a hundredth of
 * the whole) and the whole within 5 %. Large models through the memory plan, which memory.test.ts holds to the byte
 * against what is allocated; gpt2-nano against the buffers of live sessions, their dispatch parameters included.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gpu } from '../gpu/gpu';
import { sharedGpu } from '../gpu/device-fixture';
import { predictLedger, type Ledger, type PlanRun, type ProbeRun } from '../graph/ledger';
import { OUT_SCHEME, REFERENCE_POLICY, type Policy, type PolicyOptions } from '../graph/policy';
import { paintableSites } from '../graph/sites';
import type { Graph } from '../graph/types';
import { gpt2Graph } from '../models/gpt2';
import { planMemory, type MemoryPlan, type SessionUse } from './memory';
import { graph as nano, params, SHAPE, tokensOf } from './run-fixture';
import { Session } from './session';
import type { BatchShape } from './values';

const MINI = gpt2Graph({ model: 'gpt2-mini', layers: 6, width: 128, heads: 4, positions: 128, vocabulary: 1024, eps: 1e-5 });
const SMALL = gpt2Graph({ model: 'gpt2', layers: 12, width: 768, heads: 12, positions: 1024, vocabulary: 50257, eps: 1e-5 });

const plan = (policy: Partial<Policy>): PlanRun => ({ kind: 'plan', policy: { ...REFERENCE_POLICY, ...policy } });
const probe = (run: Omit<ProbeRun, 'kind'>): ProbeRun => ({ kind: 'probe', ...run });
/** Every op group low but the fixed policy's. */
const groups = (graph: Graph): string[] => paintableSites(graph, OUT_SCHEME).map((site) => site.node);
const fixed = (graph: Graph): string[] => groups(graph).filter((id) => !/(^wte|ln_.|lm_head)$/.test(id));

/** What the engine is asked for to do such a run. */
function sessionUse(run: PlanRun | ProbeRun): SessionUse {
  if (run.kind === 'plan') return { plan: run.policy };
  const outs: PolicyOptions | undefined = run.recipe === OUT_SCHEME ? run.options ?? {} : run.outs;
  return { batches: run.batches, shiftSets: run.shiftSets ?? 0, ...(outs ? { outs } : {}) };
}

function ledgerOf({ buffers }: MemoryPlan): Ledger {
  const sum = (...roles: string[]): number => buffers.filter(({ role }) => roles.includes(role)).reduce((total, { bytes }) => total + bytes, 0);
  const activationBytes: Record<string, number> = {};
  for (const { role, format, bytes } of buffers) if (role === 'activation') activationBytes[format ?? ''] = (activationBytes[format ?? ''] ?? 0) + bytes;
  const scratchBytes = sum('scratch', 'batch');
  return {
    weightBytes: sum('parameter'), activationBytes, gradientBytes: sum('gradient'), parameterGradientBytes: sum('parameter gradient'),
    scratchBytes, totalBytes: buffers.reduce((total, { bytes }) => total + bytes, 0),
  };
}

/** Predicted over held, minus one, of the whole and of every line that is a hundredth of it. */
function errors(predicted: Ledger, held: Ledger): Record<string, number> {
  const lines = ({ activationBytes, ...rest }: Ledger): Record<string, number> => ({ ...rest, ...activationBytes });
  const [a, b] = [lines(predicted), lines(held)];
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((name) => Math.max(a[name] ?? 0, b[name] ?? 0) > held.totalBytes / 100);
  return Object.fromEntries(names.map((name) => [name, (a[name] ?? 0) / (b[name] ?? 0) - 1]));
}

describe('the ledger and the memory plan', () => {
  it.each<[string, Graph, BatchShape, PlanRun | ProbeRun]>([
    ['gpt2-mini, NVFP4 probe, 4 batches', MINI, { sequences: 4, tokens: 128 }, probe({ recipe: 'nvfp4', batches: 4 })],
    ['gpt2-mini, NVFP4 probe, 8 batches and what persists', MINI, { sequences: 4, tokens: 128 }, probe({ recipe: 'nvfp4', batches: 8, shiftSets: 8 })],
    ['gpt2-mini, op groups, 4 batches', MINI, { sequences: 4, tokens: 128 }, probe({ recipe: 'fp8-out', batches: 4 })],
    ['gpt2-mini, op groups of a plan beside MXFP8, ragged', MINI, { sequences: 3, tokens: 77 }, probe({ recipe: 'mxfp8', outs: { out: 'mx' }, batches: 2 })],
    ['GPT-2, BF16', SMALL, { sequences: 4, tokens: 512 }, plan({})],
    ['GPT-2, FP32', SMALL, { sequences: 1, tokens: 1024 }, plan({ reference: 'fp32' })],
    ['GPT-2, every op group low', SMALL, { sequences: 4, tokens: 512 }, plan({ outs: groups(SMALL) })],
    ['GPT-2, the fixed policy in blocks of 128', SMALL, { sequences: 1, tokens: 1024 }, plan({ outs: fixed(SMALL), options: { out: 'block' } })],
    ['GPT-2, one NVFP4 pass', SMALL, { sequences: 2, tokens: 300 }, plan({ passes: { 'h.0.mlp.c_fc:wgrad': 'nvfp4' } })],
    ['GPT-2, op groups in blocks of 32, one batch', SMALL, { sequences: 1, tokens: 256 }, probe({ recipe: 'fp8-out', options: { out: 'mx' }, batches: 1 })],
  ])('%s: within 5 %', (_, graph, shape, run) => {
    const found = errors(predictLedger(graph, shape, run), ledgerOf(planMemory(graph, shape, sessionUse(run))));
    expect(found).toHaveProperty('totalBytes');
    for (const [line, error] of Object.entries(found)) expect(Math.abs(error), line).toBeLessThan(0.05);
  });
});

it.each<PolicyOptions>([{}, { pow2: true }, { out: 'block' }, { out: 'mx' }])('GPT-2 with 4 x 512 tokens takes less memory with every op group low than in BF16, all of it counted, %o', (options) => {
  const bytes = (policy: Partial<Policy>): number => planMemory(SMALL, { sequences: 4, tokens: 512 }, sessionUse(plan(policy))).totalBytes;
  const [high, low] = [bytes({}), bytes({ outs: groups(SMALL), options })];
  console.log(`GPT-2, 4 x 512 tokens, ${JSON.stringify(options)}: ${low} bytes, BF16 ${high}`);
  expect(low).toBeLessThan(0.97 * high);
});

describe('the ledger and live sessions of gpt2-nano', () => {
  let gpu: Gpu;
  beforeAll(async () => {
    gpu = await sharedGpu();
  });
  afterAll(() => expect(gpu.liveBuffers).toBe(0));

  async function allocatedBy(run: PlanRun | ProbeRun): Promise<Ledger> {
    const session = await Session.create(gpu, nano, params, SHAPE, sessionUse(run));
    try {
      session.setBatch(tokensOf(0));
      await session.runReference();
      const { allocated } = session;
      expect(allocated.totalBytes).toBe(gpu.liveBytes);
      return allocated;
    } finally {
      session.dispose();
    }
  }

  it.each<[string, PlanRun | ProbeRun]>([
    ['BF16', plan({})],
    ['every op group low', plan({ outs: groups(nano) })],
    ['every op group low, blocks of 32', plan({ outs: groups(nano), options: { out: 'mx' } })],
    ['the fixed policy and a mixture of passes', plan({ outs: fixed(nano), passes: { 'h.0.mlp.c_fc:fprop': 'mxfp4', 'h.1.attn.c_attn:wgrad': 'nvfp4' } })],
    ['FP32', plan({ reference: 'fp32' })],
    ['a probe of NVFP4 with shifts', probe({ recipe: 'nvfp4', batches: 3, shiftSets: 2 })],
    ['a probe of op groups', probe({ recipe: 'fp8-out', batches: 2 })],
  ])('%s: within 5 %', async (_, run) => {
    const predicted = predictLedger(nano, SHAPE, run);
    for (const [line, error] of Object.entries(errors(predicted, await allocatedBy(run)))) expect(Math.abs(error), line).toBeLessThan(0.05);
  });

  it('a plan of low op groups really keeps its activations in half the bytes', async () => {
    const bytes = ({ activationBytes: { BF16 = 0, E4M3 = 0 } }: Ledger): number => BF16 + E4M3;
    const [high, low] = [await allocatedBy(plan({})), await allocatedBy(plan({ outs: groups(nano) }))];
    expect(low.activationBytes.BF16 ?? 0).toBe(0);
    expect(bytes(low) / bytes(high)).toBeLessThan(0.51);
  });
});
