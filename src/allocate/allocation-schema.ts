/**
 * The shape of allocation.json, `bendscope-allocation/1` (ux.md 4.2), as a zod schema: what import accepts, and where
 * public/allocation.schema.json comes from. Unknown keys are refused, so that nothing in a file is silently dropped.
 */
import * as z from 'zod/mini';
import english from 'zod/v4/locales/en.js';
import { OUT_SCALINGS, RECIPE_NAMES } from '../graph/policy';

// Without it an error names no more than that the input is invalid.
z.config(english());

export const ALLOCATION_SCHEMA = 'bendscope-allocation/1';

const hash = z.string().check(z.regex(/^sha256:[0-9a-f]{64}$/), z.describe('sha256:<64 hex digits>'));
const scheme = z.enum(RECIPE_NAMES);
const degrees = z.number().check(z.gte(0), z.lte(180));
/** An angle for each low format the site was measured in. */
const byScheme = z.partialRecord(scheme, degrees);

const siteRow = z.strictObject({
  format: z.enum(['bf16', ...RECIPE_NAMES]).check(z.describe('bf16: high precision')),
  locked: z.boolean(),
  status: z.enum(['measured', 'failed', 'unmeasured']),
  reason: z.nullable(z.string()).check(z.describe('Why a failed site could not be measured, its error name first')),
  angleDeg: byScheme.check(z.describe('Angle between the gradient with only this site low and the reference gradient')),
  cleanDeg: byScheme.check(z.describe('The same with the noise floor taken out: tan^2 clean = max(0, tan^2 raw - floor^2)')),
  standardErrorDeg: z.nullable(z.number().check(z.gte(0))),
  belowNoise: z.nullable(z.boolean()).check(z.describe('The raw angle is under 2 x floor')),
  relativeShift: z.nullable(z.number().check(z.gte(0))),
  lengthRatio: z.nullable(z.number().check(z.gte(0))),
  rotationShare: z.nullable(z.number()),
  lossChange: z.nullable(z.number()),
  localError: z.nullable(z.number().check(z.gte(0))),
});

export const allocationSchema = z.strictObject({
  schema: z.literal(ALLOCATION_SCHEMA),
  plan: z.strictObject({
    name: z.string(),
    notes: z.string(),
    hash: z.optional(hash).check(z.describe('Names model, recipe, options and formats; leave it out of a file edited by hand')),
  }),
  model: z.strictObject({ name: z.string(), sha256: hash, layers: z.int().check(z.gte(1)), tiedHead: z.boolean() }),
  recipe: z.strictObject({
    id: scheme,
    rht: z.boolean().check(z.describe('Random Hadamard transform of both wgrad operands')),
    sr: z.boolean().check(z.describe('Stochastic rounding of dy')),
    weights1d: z.boolean().check(z.describe('1x16 instead of 16x16 weight blocks')),
    seed: z.optional(z.int().check(z.gte(0), z.lte(0xffffffff))).check(z.describe('Key of the random numbers of sr; 0 where absent')),
    pow2: z.optional(z.boolean()).check(z.describe('Tensor scales rounded down to powers of two')),
    floor: z.optional(z.boolean()).check(z.describe('MX block scales by the OCP rule floor(log2 amax) - emax')),
    e5m2Grad: z.optional(z.boolean()).check(z.describe('E5M2 instead of E4M3 for dy')),
    out: z.optional(z.enum(OUT_SCALINGS)).check(z.describe('Granularity of stored outputs; one scale a tensor where absent')),
  }),
  sites: z.record(z.string(), siteRow).check(z.describe('Keyed by <node>:fprop|dgrad|wgrad or <node>:out; every site that the recipe can lower')),
  floorDeg: z.nullable(z.strictObject({ forward: degrees, backward: degrees })),
  totals: z.strictObject({
    hpGemmWork: z.optional(z.number().check(z.gte(0), z.lte(1))).check(z.describe('Of a recipe of passes: FLOPs of BF16 passes over those of all')),
    hpActivationCache: z
      .optional(z.strictObject({ share: z.number().check(z.gte(0), z.lte(1)), bytesPerToken: z.int().check(z.gte(0)), relativeToFixed: z.number().check(z.gte(0)) }))
      .check(z.describe('Of op groups: bytes of BF16 outputs that backward keeps, over those of all and over those of the fixed policy (embedding, head, norms)')),
    effectiveBits: z.number().check(z.gte(0)),
    predictedDeg: z.nullable(degrees),
    measuredDeg: z.nullable(degrees).check(z.describe('Joint angle of this very plan, if it was verified')),
  }),
  measuredOn: z
    .nullable(z.strictObject({
      data: z.strictObject({ name: z.string(), sha256: hash, seed: z.int(), batches: z.int(), sequences: z.int(), tokens: z.int() }),
      device: z.string(),
      isFallbackAdapter: z.boolean(),
      browser: z.string(),
      appVersion: z.string(),
      startedAt: z.string(),
    }))
    .check(z.describe('Where the angles come from; null when nothing was measured')),
  manifest: hash.check(z.describe('Hash of model, recipe and measuredOn without startedAt: two files with one manifest are comparable')),
});

export type AllocationFile = z.infer<typeof allocationSchema>;
export type AllocationRow = z.infer<typeof siteRow>;

/** The text of public/allocation.schema.json. */
export function allocationJsonSchema(): string {
  const schema = z.toJSONSchema(allocationSchema, { io: 'input' });
  return `${JSON.stringify({ title: 'Bendscope allocation', ...schema }, null, 2)}\n`;
}
