/**
 * What the device's own FP32 arithmetic does: the numerics profile, information that travels with the report. It fails
 * only where an exactly representable result is wrong, which no device may get wrong (engine.md 3.3).
 */
import { bitsOf, fromBits } from '../../numerics/float-bits';
import { fail, kernelWords, type Check } from './check';
import { windowedWords } from './inputs';

const EXACT = 64;
const ROUNDED = 1024;
const SUBNORMAL = 32;
const COUNT = EXACT + 2 * ROUNDED + SUBNORMAL;
const { fround } = Math;

const ulps = (got: number, expected: number): number => (got === expected ? 0 : Math.abs(bitsOf(got) - bitsOf(expected)));

export const FLOAT_FACTS: Check = {
  name: 'float arithmetic',
  run: async ({ gpu }) => {
    const numbers = (seed: number): Float32Array => Float32Array.from(windowedWords(COUNT, seed, 110, 144, 0x7fffff), fromBits);
    const [a, b, c] = [numbers(101), numbers(102), new Float32Array(COUNT + 1)];
    for (let i = 0; i < EXACT; i++) {
      a[i] = 37 * i - 1000;
      b[i] = 1 + ((i * i) % 3001);
      c[i] = 5 * i;
    }
    // Where a b is inexact and c = -fl(a b), a fused multiply-add leaves the rounding error, an unfused one zero.
    for (let i = EXACT + ROUNDED; i < EXACT + 2 * ROUNDED; i++) c[i] = -fround((a[i] ?? 0) * (b[i] ?? 0));
    a.set(Array.from({ length: SUBNORMAL }, (_, i) => fromBits(1 + i * 0x3ffff)), EXACT + 2 * ROUNDED);
    c[COUNT] = 1;
    const facts = new Float32Array((await kernelWords(gpu, 'float_facts', {}, Uint32Array.of(COUNT), [a, b, c, 32 * COUNT], COUNT)).buffer);
    const at = (i: number, k: number): number => facts[8 * i + k] ?? NaN;
    const seen = { product: 0, sum: 0, quotient: 0, root: 0, fused: 0, inexact: 0, kept: 0 };
    let [worstQuotient, worstRoot] = [0, 0];
    for (let i = 0; i < COUNT; i++) {
      const [x, y, z] = [a[i] ?? NaN, b[i] ?? NaN, c[i] ?? NaN];
      if (i < EXACT) {
        const [product, sum, , fused, same] = [0, 1, 2, 3, 4].map((k) => at(i, k));
        if (product !== x * y || sum !== x + y || fused !== x * y + z || same !== x) {
          fail(`${x}, ${y}, ${z}: expected exactly ${x * y}, ${x + y}, ${x * y + z}, ${x}, got ${product}, ${sum}, ${fused}, ${same}`);
        }
      } else if (i < EXACT + 2 * ROUNDED) {
        if (at(i, 0) !== fround(x * y)) seen.product += 1;
        if (at(i, 1) !== fround(x + y)) seen.sum += 1;
        const [quotient, root] = [ulps(at(i, 2), fround(x / y)), ulps(at(i, 5), fround(Math.sqrt(Math.abs(x))))];
        if (quotient > 0) seen.quotient += 1;
        if (root > 0) seen.root += 1;
        [worstQuotient, worstRoot] = [Math.max(worstQuotient, quotient), Math.max(worstRoot, root)];
        if (i < EXACT + ROUNDED || fround(x * y) === x * y) continue;
        seen.inexact += 1;
        if (at(i, 3) !== 0) seen.fused += 1;
      } else if (at(i, 4) === x) seen.kept += 1;
    }
    const nearest = (off: number): string => (off === 0 ? 'rounds to nearest even' : `differs from nearest even in ${off} of ${2 * ROUNDED}`);
    const within = (off: number, worst: number): string => (off === 0 ? 'is correctly rounded' : `is off in ${off} of ${2 * ROUNDED}, by ${worst} ulp at most`);
    return [
      `multiply ${nearest(seen.product)}`, `add ${nearest(seen.sum)}`, `divide ${within(seen.quotient, worstQuotient)}`, `sqrt ${within(seen.root, worstRoot)}`,
      seen.fused === 0 ? 'a*b+c is not fused' : `a*b+c is fused in ${seen.fused} of ${seen.inexact}`,
      seen.kept === SUBNORMAL ? 'subnormals are kept' : `subnormals are flushed in ${SUBNORMAL - seen.kept} of ${SUBNORMAL}`,
    ].join('; ');
  },
};
