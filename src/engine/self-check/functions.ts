/**
 * exp of lib/exp against float64 in units of the last place: softmax, GELU and the loss are made of it. 2 ulp where the
 * compiler keeps the order written; one that joins the two parts of ln 2 again makes about 40 of it, which no BF16 value
 * shows. The figure is part of the report (engine.md 3.3).
 */
import { fail, kernelWords, type Check } from './check';

const POINTS = 2048;
const LIMIT_ULPS = 64;

export const FUNCTION_CHECK: Check = {
  name: 'exponential',
  run: async ({ gpu }) => {
    const x = Float32Array.from({ length: POINTS }, (_, i) => -87 + (175 * i) / (POINTS - 1));
    x.set([0, -0, -87.5, -1e4]);
    const y = new Float32Array((await kernelWords(gpu, 'function_check', { OP: 0 }, Uint32Array.of(POINTS), [x, 4 * POINTS], POINTS)).buffer);
    let worst = 0;
    x.forEach((v, i) => {
      const got = y[i] ?? NaN;
      if (v < -87) {
        if (got !== 0) fail(`exp(${v}): expected 0, got ${got}`);
        return;
      }
      const exact = Math.exp(v);
      const off = Math.abs(got - exact) / 2 ** (Math.floor(Math.log2(exact)) - 23);
      if (!(off <= LIMIT_ULPS)) fail(`exp(${v}): expected ${exact}, got ${got}`);
      worst = Math.max(worst, off);
    });
    return `${POINTS} values within ${worst.toFixed(2)} ulp`;
  },
};
