/**
 * What turns runs into measurements: the comparison of gradients, the flipped ulp of the noise floor, the local error,
 * runs that repeat and resume bit for bit (engine.md 3.3 rules 6 and 8, 6.2).
 */
import { fromBits } from '../../numerics/float-bits';
import { COMPARE_CHUNK, COMPARE_WORDS } from '../memory';
import { linearPass } from '../reference/linear';
import { fail, kernelWords, type Check } from './check';
import { expectWithin, expectWords } from './compare';
import { randomValues, randomWords } from './inputs';

const QUADS = 613;
const ELEMENTS = 4 * QUADS;
const CHUNKS = Math.ceil(ELEMENTS / COMPARE_CHUNK);
/** Additions behind one sum, four lanes side by side, and the roundings of a term. */
const TERMS = COMPARE_CHUNK / 4 + 4;

const gradientSums: Check = {
  name: 'gradient comparison',
  run: async ({ gpu }) => {
    const r = randomValues(ELEMENTS, 91, 1e-3);
    const shift = randomValues(ELEMENTS, 92, 1e-7);
    const g = r.map((x, i) => x + (shift[i] ?? 0));
    const planted = g.slice();
    planted.set([Infinity, NaN, -Infinity, fromBits(0x7f800001), 3.4e38], 1500);
    const sums = (values: Float32Array): Promise<Uint32Array> =>
      kernelWords(gpu, 'gradient_compare', {}, Uint32Array.of(QUADS, 1), [values, r, 4 * COMPARE_WORDS * (CHUNKS + 1)], CHUNKS);
    const [clean, dirty] = await Promise.all([sums(g), sums(planted)]);
    const got = new Float32Array(clean.buffer);
    for (let chunk = 0; chunk < CHUNKS; chunk++) {
      const expected = new Float64Array(4);
      const size = new Float64Array(4);
      for (let i = chunk * COMPARE_CHUNK; i < Math.min(ELEMENTS, (chunk + 1) * COMPARE_CHUNK); i++) {
        const [a, b] = [g[i] ?? NaN, r[i] ?? NaN];
        [a * a, b * b, (a - b) ** 2, (a - b) * b].forEach((term, k) => {
          expected[k] = (expected[k] ?? 0) + term;
          size[k] = (size[k] ?? 0) + Math.abs(term);
        });
      }
      const at = COMPARE_WORDS * (chunk + 1);
      expectWithin(`sums of chunk ${chunk}`, got.subarray(at, at + 4), expected, size.map((s) => 2 * TERMS * 2 ** -24 * s));
    }
    const counts = (words: Uint32Array): number[] => Array.from({ length: CHUNKS }, (_, chunk) => new Float32Array(words.buffer)[COMPARE_WORDS * (chunk + 1) + 4] ?? NaN);
    expectWords('non-finite elements of a clean gradient', counts(clean), [0, 0, 0]);
    expectWords('non-finite elements', counts(dirty), [0, 4, 0]);
    return `${4 * CHUNKS} sums within the rounding bound, 4 of 4 planted Inf and NaN counted`;
  },
};

const flippedUlp: Check = {
  name: 'flipped ulp',
  run: async ({ gpu }) => {
    const x = randomWords(70, 95);
    // The carry of a lower half must not reach the upper one.
    x[33] = 0x3f80ffff;
    for (const [word, upper] of [[33, 0], [69, 1]] as const) {
      const got = await kernelWords(gpu, 'flip_ulp', {}, Uint32Array.of(x.length, word, upper), [x, 4 * x.length], x.length);
      const expected = x.map((w, i) => (i !== word ? w : upper === 1 ? w + 0x10000 : (w & 0xffff0000) | ((w + 1) & 0xffff)) >>> 0);
      expectWords('one ulp added', got, expected, false, x);
    }
    return '2 flips bit-equal to the CPU';
  },
};

const repeats: Check = {
  name: 'repeatability',
  run: async (bench) => {
    const [{ bytes, run }, { again, flipped: { resumed, full } }] = [await bench.recording(), await bench.replay()];
    let words = 0;
    for (const [key, first] of bytes) words += expectWords(`${key} of a second run`, new Uint32Array(again.get(key) ?? new ArrayBuffer(0)), new Uint32Array(first));
    let moved = false;
    for (const [name, sums] of full.sums) {
      const other = resumed.sums.get(name);
      for (const key of ['gg', 'rr', 'dd', 'dr', 'nonFinite'] as const) {
        if (other?.[key] !== sums[key]) fail(`${name}: expected the resumed run's sums to be the full run's, got ${String(other?.[key])} and ${sums[key]}`);
      }
      if (sums.rr !== run.sums.get(name)?.rr) fail(`${name}: the reference gradient changed`);
      moved ||= sums.dd > 0;
    }
    if (!moved) fail('one flipped ulp: expected another gradient, got the same');
    if (resumed.executedSteps >= full.executedSteps) fail(`expected fewer steps than ${full.executedSteps}, got ${resumed.executedSteps}`);
    return `${words} words of a second run bit-equal, a resumed run equal to the full one`;
  },
};

/** Relative error of a ratio of two sums of squares over f32 GEMM outputs. */
const LOCAL_ERROR_SHARE = 1e-3;

const localError: Check = {
  name: 'local error',
  run: async (bench) => {
    const { localError: { node, measured } } = await bench.replay();
    const recording = await bench.recording();
    const [call, dy] = [recording.call(node), recording.dy(node.id)];
    const high = linearPass(call, 'wgrad', dy);
    const low = linearPass({ ...call, low: { wgrad: 'nvfp4' } }, 'wgrad', dy);
    let dd = 0;
    let rr = 0;
    high.forEach((h, i) => {
      dd += ((low[i] ?? NaN) - h) ** 2;
      rr += h * h;
    });
    const expected = dd / rr;
    if (!(Math.abs((measured ?? NaN) - expected) <= LOCAL_ERROR_SHARE * expected)) fail(`${node.id}:wgrad: expected ${expected.toPrecision(5)}, got ${String(measured)}`);
    return `${node.id}:wgrad ${expected.toPrecision(4)} like the float64 reference`;
  },
};

export const MEASURING_CHECKS: readonly Check[] = [gradientSums, flippedUlp, repeats, localError];
