/**
 * The shape of allocation.json, `bendscope-allocation/1` (ux.md 4.2), as a zod schema: what import accepts, and where
 * public/allocation.schema.json comes from. Unknown keys are refused, so that nothing in a file is silently dropped.
 */
import * as z from 'zod';
import { OUT_SCALINGS, RECIPE_NAMES } from '../graph/policy';

export const ALLOCATION_SCHEMA = 'bendscope-allocation/1';

const hash = z.string().regex(/^sha256:[0-9a-f]{64}$/).meta({ description: 'sha256:<64 hex digits>' });
const scheme = z.enum(RECIPE_NAMES);
const degrees = z.number().min(0).max(180);
/** An angle for each low format the site was measured in. */
const byScheme = z.partialRecord(scheme, degrees);

const siteRow = z.strictObject({
  format: z.enum(['bf16', ...RECIPE_NAMES]).meta({ description: 'bf16: high precision' }),
  locked: z.boolean(),
  status: z.enum(['measured', 'failed', 'unmeasured']),
  reason: z.string().nullable().meta({ description: 'Why a failed site could not be measured, its error name first' }),
  angleDeg: byScheme.meta({ description: 'Angle between the gradient with only this site low and the reference gradient' }),
  cleanDeg: byScheme.meta({ description: 'The same with the noise floor taken out: tan^2 clean = max(0, tan^2 raw - floor^2)' }),
  standardErrorDeg: z.number().min(0).nullable(),
  belowNoise: z.boolean().nullable().meta({ description: 'The raw angle is under 2 x floor' }),
  relativeShift: z.number().min(0).nullable(),
  lengthRatio: z.number().min(0).nullable(),
  rotationShare: z.number().nullable(),
  lossChange: z.number().nullable(),
  localError: z.number().min(0).nullable(),
});

export const allocationSchema = z.strictObject({
  schema: z.literal(ALLOCATION_SCHEMA),
  plan: z.strictObject({
    name: z.string(),
    notes: z.string(),
    hash: hash.optional().meta({ description: 'Names model, recipe, options and formats; leave it out of a file edited by hand' }),
  }),
  model: z.strictObject({ name: z.string(), sha256: hash, layers: z.int().min(1), tiedHead: z.boolean() }),
  recipe: z.strictObject({
    id: scheme,
    rht: z.boolean().meta({ description: 'Random Hadamard transform of both wgrad operands' }),
    sr: z.boolean().meta({ description: 'Stochastic rounding of dy' }),
    weights1d: z.boolean().meta({ description: '1x16 instead of 16x16 weight blocks' }),
    seed: z.int().min(0).max(0xffffffff).optional().meta({ description: 'Key of the random numbers of sr; 0 where absent' }),
    pow2: z.boolean().optional().meta({ description: 'Tensor scales rounded down to powers of two' }),
    floor: z.boolean().optional().meta({ description: 'MX block scales by the OCP rule floor(log2 amax) - emax' }),
    e5m2Grad: z.boolean().optional().meta({ description: 'E5M2 instead of E4M3 for dy' }),
    out: z.enum(OUT_SCALINGS).optional().meta({ description: 'Granularity of stored outputs; one scale a tensor where absent' }),
  }),
  sites: z.record(z.string(), siteRow).meta({ description: 'Keyed by <node>:fprop|dgrad|wgrad or <node>:out; every site that the recipe can lower' }),
  floorDeg: z.strictObject({ forward: degrees, backward: degrees }).nullable(),
  totals: z.strictObject({
    hpGemmWork: z.number().min(0).max(1).optional().meta({ description: 'Of a recipe of passes: FLOPs of BF16 passes over those of all' }),
    hpActivationCache: z
      .strictObject({ share: z.number().min(0).max(1), bytesPerToken: z.int().min(0), relativeToFixed: z.number().min(0) })
      .optional()
      .meta({ description: 'Of op groups: bytes of BF16 outputs that backward keeps, over those of all and over those of the fixed policy (embedding, head, norms)' }),
    effectiveBits: z.number().min(0),
    predictedDeg: degrees.nullable(),
    measuredDeg: degrees.nullable().meta({ description: 'Joint angle of this very plan, if it was verified' }),
  }),
  measuredOn: z
    .strictObject({
      data: z.strictObject({ name: z.string(), sha256: hash, seed: z.int(), batches: z.int(), sequences: z.int(), tokens: z.int() }),
      device: z.string(),
      isFallbackAdapter: z.boolean(),
      browser: z.string(),
      appVersion: z.string(),
      startedAt: z.string(),
    })
    .nullable()
    .meta({ description: 'Where the angles come from; null when nothing was measured' }),
  manifest: hash.meta({ description: 'Hash of model, recipe and measuredOn without startedAt: two files with one manifest are comparable' }),
});

export type AllocationFile = z.infer<typeof allocationSchema>;
export type AllocationRow = z.infer<typeof siteRow>;

/** The text of public/allocation.schema.json. */
export function allocationJsonSchema(): string {
  const schema = z.toJSONSchema(allocationSchema, { io: 'input' });
  return `${JSON.stringify({ title: 'Bendscope allocation', ...schema }, null, 2)}\n`;
}
