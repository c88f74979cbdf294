/**
 * What turns runs into measurements: the comparison of gradients, the flipped ulp of the noise floor, the local error,
 * runs that repeat and resume bit for bit (engine.md 3.3 rules 6 and 8, 6.2).
 */
import { fromBits } from '../../numerics/float-bits';
import { COMPARE_CHUNK, COMPARE_WORDS } from '../memory';
import { packBf16 } from '../parameters';
import { linearPass } from '../reference/linear';
import { fail, kernelWords, type Check } from './check';
import { expectWithin, expectWords } from './compare';
import { bf16Values, randomValues, randomWords } from './inputs';

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

/** What of a shift persists: shifts of a gradient, and their inner products. */
const shiftProducts: Check = {
  name: 'shifts and their products',
  run: async ({ gpu }) => {
    const [g, r] = [randomValues(ELEMENTS, 93, 1), randomValues(ELEMENTS, 94, 1)];
    const d = new Float32Array((await kernelWords(gpu, 'shift', {}, Uint32Array.of(QUADS), [g, r, 4 * ELEMENTS], QUADS)).buffer);
    // One rounding; WGSL grants an addition no more.
    expectWithin('shift', d, g.map((x, i) => Math.fround(x - (r[i] ?? NaN))), g.map(() => 0));
    const products = new Float32Array((await kernelWords(gpu, 'dot', {}, Uint32Array.of(QUADS, 1), [g, d, 4 * (CHUNKS + 1)], CHUNKS)).buffer);
    const [expected, size] = [new Float64Array(CHUNKS), new Float64Array(CHUNKS)];
    d.forEach((x, i) => {
      const chunk = Math.floor(i / COMPARE_CHUNK);
      const term = x * (g[i] ?? NaN);
      expected[chunk] = (expected[chunk] ?? 0) + term;
      size[chunk] = (size[chunk] ?? 0) + Math.abs(term);
    });
    expectWithin('inner products', products.subarray(1), expected, size.map((s) => 2 * TERMS * 2 ** -24 * s));
    return `${ELEMENTS} differences bit-equal, ${CHUNKS} partial products within the rounding bound`;
  },
};

const outputError: Check = {
  name: 'output rounding error',
  run: async ({ gpu }) => {
    const [q, r] = [bf16Values(ELEMENTS, 97, 1), bf16Values(ELEMENTS, 98, 1)];
    const got = new Float32Array((await kernelWords(gpu, 'out_error', {}, Uint32Array.of(QUADS, 1), [packBf16(q), packBf16(r), 4 * COMPARE_WORDS * (CHUNKS + 1)], CHUNKS)).buffer);
    for (let chunk = 0; chunk < CHUNKS; chunk++) {
      const expected = new Float64Array(2);
      for (let i = chunk * COMPARE_CHUNK; i < Math.min(ELEMENTS, (chunk + 1) * COMPARE_CHUNK); i++) {
        const [a, b] = [q[i] ?? NaN, r[i] ?? NaN];
        expected[0] = (expected[0] ?? 0) + b * b;
        expected[1] = (expected[1] ?? 0) + (a - b) ** 2;
      }
      const at = COMPARE_WORDS * (chunk + 1);
      expectWithin(`sums of chunk ${chunk}`, got.subarray(at + 1, at + 3), expected, expected.map((s) => 2 * TERMS * 2 ** -24 * s));
    }
    return `${2 * CHUNKS} sums within the rounding bound`;
  },
};

/** What an error changes the loss by: FP32 outputs of a pass and BF16 ones of an op group, both weighed by a BF16 gradient. */
const firstOrderError: Check = {
  name: 'first-order error',
  run: async ({ gpu }) => {
    const g = bf16Values(ELEMENTS, 101, 1e-3);
    // Products beyond the clamp on both sides, in a chunk of their own; Inf and NaN in either tensor, in another.
    g.set([2 ** 20, -(2 ** 20)], 7);
    g.set([NaN, 1], 1500);
    for (const bf16 of [0, 1]) {
      const of = (seed: number): Float32Array => (bf16 === 1 ? bf16Values : randomValues)(ELEMENTS, seed, 1);
      const [q, r] = [of(99), of(100)];
      q.set([2 ** 20, 2 ** 20], 7);
      q.set([0, -Infinity], 1500);
      const packed = (x: Float32Array): ArrayBufferView => (bf16 === 1 ? packBf16(x) : x);
      const got = new Float32Array((await kernelWords(gpu, 'first_order', { BF16: bf16 }, Uint32Array.of(QUADS, 1), [packed(q), packed(r), packBf16(g), 4 * COMPARE_WORDS * (CHUNKS + 1)], CHUNKS)).buffer);
      for (let chunk = 0; chunk < CHUNKS; chunk++) {
        let [gd, gg, bad] = [0, 0, 0];
        for (let i = chunk * COMPARE_CHUNK; i < Math.min(ELEMENTS, (chunk + 1) * COMPARE_CHUNK); i++) {
          const [a, b, w] = [q[i] ?? NaN, r[i] ?? NaN, g[i] ?? NaN];
          gd += Math.max(-1e10, Math.min(1e10, w * (a - b))) ** 2;
          gg += w * w;
          bad += (Number.isFinite(a) ? 0 : 1) + (Number.isFinite(w) ? 0 : 1);
        }
        const at = COMPARE_WORDS * (chunk + 1);
        expectWords(`Inf and NaN of chunk ${chunk}`, [got[at + 7] ?? NaN], [bad]);
        // A chunk that has some has no sums.
        if (bad === 0) expectWithin(`sums of chunk ${chunk}`, got.subarray(at + 5, at + 7), [gd, gg], [gd, gg].map((s) => 2 * TERMS * 2 ** -24 * s));
      }
    }
    return `${4 * (CHUNKS - 1)} sums within the rounding bound, 4 of 4 planted Inf and NaN counted`;
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

export const MEASURING_CHECKS: readonly Check[] = [gradientSums, shiftProducts, outputError, firstOrderError, flippedUlp, repeats, localError];
