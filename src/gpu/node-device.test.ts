/** Waiting for the software adapter leaves it the processor: Dawn asks at a timer whether it is done; other immediates stay what they are. */
import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { sharedGpu } from './device-fixture';
import type { Gpu } from './gpu';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await sharedGpu();
});
afterEach(() => {
  vi.restoreAllMocks();
  expect(gpu.liveBuffers).toBe(0);
});

const isNative = (callback: unknown): boolean => String(callback).includes('[native code]');

it('a read is awaited with timers', async () => {
  const timers = vi.spyOn(globalThis, 'setTimeout');
  const buffer = gpu.createBuffer('read', 16);
  try {
    expect(new Uint8Array(await gpu.read(buffer, 16))).toEqual(new Uint8Array(16));
  } finally {
    gpu.destroyBuffer(buffer);
  }
  expect(timers.mock.calls.filter(([callback, ms]) => isNative(callback) && ms === 1).length).toBeGreaterThan(0);
});

it('an immediate of anybody else runs with its arguments, and can be taken back', async () => {
  const ran: string[] = [];
  clearImmediate(setImmediate(() => ran.push('taken back')));
  await new Promise<void>((resolve) => {
    setImmediate((word: string) => {
      ran.push(word);
      resolve();
    }, 'with its argument');
  });
  expect(ran).toEqual(['with its argument']);
});
