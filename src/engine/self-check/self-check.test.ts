/**
 * The start-up check on the software adapter: everything passes and is freed; a kernel that writes nothing is found,
 * whichever it is; a check that throws fails alone; the model of the check is GPT-2.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gpu } from '../../gpu/gpu';
import { sharedGpu } from '../../gpu/device-fixture';
import { REFERENCE_POLICY } from '../../graph/policy';
import { gpt2Graph } from '../../models/gpt2';
import { KERNELS } from '../kernels';
import { referenceGradient } from '../reference/gradient';
import { CHECKS, runSelfCheck } from './index';
import { TINY_GRAPH, tinyParams, tinyTokens } from './tiny-model';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await sharedGpu();
});
afterAll(() => expect(gpu.liveBuffers).toBe(0));

it('passes, frees every buffer, counts its progress', async () => {
  const progress: [number, number][] = [];
  const started = performance.now();
  const checks = await runSelfCheck(gpu, (done, total) => progress.push([done, total]));
  const first = performance.now() - started;
  expect(checks.filter((check) => !check.passed)).toEqual([]);
  expect(checks.map((check) => check.name)).toEqual(CHECKS.map((check) => check.name));
  expect(new Set(checks.map((check) => check.name)).size).toBe(checks.length);
  for (const { detail } of checks) expect(detail).toMatch(/^[^\n]{10,250}$/);
  expect(progress).toEqual(checks.map((_, i) => [i + 1, checks.length]));
  expect(gpu.liveBuffers).toBe(0);
  const again = performance.now();
  expect(await runSelfCheck(gpu)).toEqual(checks);
  console.log(`${checks.length} checks: ${first.toFixed(0)} ms at first, with what pipelines no other file has had compiled; ${(performance.now() - again).toFixed(0)} ms again`);
});

it('runs the checks asked for', async () => {
  const checks = await runSelfCheck(gpu, undefined, { only: (name) => name.startsWith('GELU') });
  expect(checks.map((check) => check.name)).toEqual(['GELU forward', 'GELU backward']);
});

describe('a kernel that writes nothing', () => {
  it.each(Object.keys(KERNELS))('%s is found', async (kernel) => {
    gpu.faultyKernel = kernel;
    try {
      const checks = await runSelfCheck(gpu, undefined, { stopAtFailure: true });
      const last = checks[checks.length - 1];
      expect(last?.passed).toBe(false);
      expect(last?.detail).not.toMatch(/E-BUG|undefined|not a function/);
      expect(checks.filter((check) => !check.passed).length).toBe(1);
    } finally {
      gpu.faultyKernel = null;
    }
    expect(gpu.liveBuffers).toBe(0);
  });

  it('is named by its op, zeros as zeros, and leaves the checks that do not use it alone', async () => {
    gpu.faultyKernel = 'gelu_bprop';
    try {
      const checks = await runSelfCheck(gpu);
      const failed = checks.filter((check) => !check.passed);
      expect(failed).toContainEqual({ name: 'layer norm backward', passed: false, detail: 'h.0.ln_2 dx: not checked, because only zeros arrive' });
      expect(failed[0]).toEqual({ name: 'GELU backward', passed: false, detail: 'h.0.mlp.act dx: 0 everywhere' });
      expect(checks.length).toBe(CHECKS.length);
      for (const name of ['GELU forward', 'linear forward', 'cross-entropy backward', 'GEMM nn', 'FP4 codes']) expect(failed.map((check) => check.name)).not.toContain(name);
    } finally {
      gpu.faultyKernel = null;
    }
  });
});

it('a throw inside one kernel fails the checks that need it, with its message', async () => {
  const broken = Object.create(gpu, {
    pipeline: { value: (...args: Parameters<Gpu['pipeline']>) => (args[0].name === 'codec_check' ? Promise.reject(new Error('no such pipeline')) : gpu.pipeline(...args)) },
    device: { value: gpu.device },
    faultyKernel: { value: null },
  }) as Gpu;
  for (const name of ['createBuffer', 'destroyBuffer', 'write', 'read', 'bindGroup', 'layout'] as const) {
    Object.defineProperty(broken, name, { value: (gpu[name] as (...args: unknown[]) => unknown).bind(gpu) });
  }
  Object.defineProperty(broken, 'lost', { get: () => gpu.lost });
  const checks = await runSelfCheck(broken);
  expect(checks.filter((check) => !check.passed)).toEqual(
    ['FP8 codes', 'FP4 codes', 'BF16 codes', 'E8M0 scales', 'exact add', 'exact multiply', 'exact divide', 'random numbers'].map((name) => ({ name, passed: false, detail: 'no such pipeline' })),
  );
  expect(gpu.liveBuffers).toBe(0);
});

describe('the tiny model', () => {
  it('is the graph of src/models', () => {
    expect(TINY_GRAPH).toEqual(gpt2Graph({ model: 'self-check', layers: 1, width: 32, heads: 2, positions: 34, vocabulary: 41, eps: 1e-5 }));
  });
  it('is no flat place: every gradient is there, the loss is not that of a guess', () => {
    const { gradient, loss } = referenceGradient(TINY_GRAPH, tinyParams(), tinyTokens(), REFERENCE_POLICY);
    expect(loss).toBeGreaterThan(1.05 * Math.log(41));
    for (const [name, values] of gradient) expect(Math.sqrt(values.reduce((s, x) => s + x * x, 0) / values.length), name).toBeGreaterThan(1e-4);
  });
});
