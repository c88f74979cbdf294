/**
 * exp and the logistic function of shaders/lib/exp.wgsl against float64 in units of the last place: the built-ins may be
 * 15 ulp off, which is too coarse for the angles (engine.md 3.3). gelu_new and its slope follow from them.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { philox4x32 } from '../base/random';
import { sharedGpu } from '../gpu/device-fixture';
import { runKernel } from '../gpu/run-kernel';
import type { Gpu } from '../gpu/gpu';
import { bitsView } from '../numerics/float-bits';
import { KERNELS } from './kernels';

const OP = { exp: 0, logistic: 1, gelu: 2, slope: 3 };
/** Points of each kind: even steps, and random bit patterns. */
const POINTS = 1 << 16;

let gpu: Gpu;
beforeAll(async () => {
  gpu = await sharedGpu();
});
afterAll(() => expect(gpu.liveBuffers).toBe(0));

async function run(op: keyof typeof OP, x: Float32Array): Promise<Float32Array> {
  const out = await runKernel(gpu, { row: KERNELS.function_check, constants: { OP: OP[op] }, params: Uint32Array.of(x.length), buffers: [x, x.byteLength], invocations: x.length });
  return new Float32Array(out[1] ?? new ArrayBuffer(0));
}

/** `low` to `high`: even steps, jittered, both ends; then random signs, exponents from 2^-40 on, and mantissas inside. */
function points(low: number, high: number): Float32Array {
  const x = new Float32Array(2 * POINTS);
  for (let i = 0; i < POINTS; i++) {
    const [a, b, c] = philox4x32([i, 0, 0, 0], [8, 0]);
    x[i] = i === 0 ? low : i === POINTS - 1 ? high : low + ((high - low) * (i + a / 2 ** 32)) / POINTS;
    const magnitude = Math.max(-low, high) * 2 ** (-(b % 46)) * (0.5 + c / 2 ** 33);
    x[POINTS + i] = Math.min(high, Math.max(low, (a & 1) === 0 ? magnitude : -magnitude));
  }
  return x;
}

/** Distance of an FP32 value from a real one, in units of the last place of the real one's binade. */
function ulps(got: number, exact: number): number {
  const exponent = Math.max(-126, Math.floor(Math.log2(Math.abs(exact))));
  return Math.abs(got - exact) / 2 ** (exponent - 23);
}

function worst(x: Float32Array, got: Float32Array, exact: (x: number) => number, unit: (x: number) => number = () => 1): { ulps: number; at: number } {
  let found = { ulps: -1, at: NaN };
  x.forEach((v, i) => {
    const off = ulps(got[i] ?? NaN, exact(v)) / unit(v);
    if (!(off <= found.ulps)) found = { ulps: off, at: v };
  });
  return found;
}

const logistic = (x: number): number => 1 / (1 + Math.exp(-x));
/** 1 / (1 + e^-x) of float64 loses nothing here: |x| <= 88. */
const argument = (x: number): number => 2 * Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3);

describe(`on ${2 * POINTS} points`, () => {
  it('exp_f32 within 2 ulp over [-87, 88]', async () => {
    const x = points(-87, 88);
    const off = worst(x, await run('exp', x), Math.exp);
    console.log(`exp_f32: ${off.ulps.toFixed(3)} ulp at ${off.at}`);
    expect(off.ulps).toBeLessThanOrEqual(2);
  });

  it('logistic_f32 within 4 ulp over [-87, 88]', async () => {
    const x = points(-87, 88);
    const off = worst(x, await run('logistic', x), logistic);
    console.log(`logistic_f32: ${off.ulps.toFixed(3)} ulp at ${off.at}`);
    expect(off.ulps).toBeLessThanOrEqual(4);
  });

  // An FP32 argument v is off by up to 3 ulp; the left tail, e^v, turns that into 3 |v| ulp. Beside it the logistic and two products.
  it('gelu_new within 6 + 3 |2u| ulp over [-8, 8]', async () => {
    const x = points(-8, 8).filter((v) => v !== 0);
    const off = worst(x, await run('gelu', x), (v) => v * logistic(argument(v)), (v) => 6 + 3 * Math.abs(argument(v)));
    console.log(`gelu_new: ${off.ulps.toFixed(3)} of the bound at ${off.at}`);
    expect(off.ulps).toBeLessThanOrEqual(1);
  });

  // The slope passes through zero at -0.75, so its error counts against its largest value, 1.13, not against itself.
  it('the slope of gelu_new within 12 ulp of 1 over [-8, 8]', async () => {
    const x = points(-8, 8);
    const slope = (v: number): number => {
      const s = logistic(argument(v));
      return s + v * s * logistic(-argument(v)) * 2 * Math.sqrt(2 / Math.PI) * (1 + 3 * 0.044715 * v * v);
    };
    const got = await run('slope', x);
    const off = x.reduce((most, v, i) => Math.max(most, Math.abs((got[i] ?? NaN) - slope(v)) * 2 ** 23), 0);
    console.log(`gelu_new slope: ${off.toFixed(3)} ulp of 1`);
    expect(off).toBeLessThanOrEqual(12);
  });
});

describe('at the edges', () => {
  it('exp: 1 at both zeros, 0 far below, a NaN stays one', async () => {
    const x = Float32Array.of(0, -0, -87.4, -1000, -3e38, NaN);
    const got = await run('exp', x);
    expect([...got.subarray(0, 5)]).toEqual([1, 1, 0, 0, 0]);
    expect((bitsView(got)[5] ?? 0) & 0x7fffffff).toBeGreaterThan(0x7f800000);
  });
  it('logistic: one half at zero, 0 and 1 far out', async () => {
    expect([...await run('logistic', Float32Array.of(0, -0, -1000, 1000, 3e38, -3e38))]).toEqual([0.5, 0.5, 0, 1, 1, 0]);
  });
});
