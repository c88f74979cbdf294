/**
 * The shape of allocation.json, `bendscope-allocation/1` (ux.md 4.2), as a zod schema: what import accepts, and where
 * public/allocation.schema.json comes from. Unknown keys are refused, so that nothing in a file is silently dropped.
 */
import * as z from 'zod';
import { PASS_SCHEMES } from '../graph/policy';

export const ALLOCATION_SCHEMA = 'bendscope-allocation/1';

const hash = z.string().regex(/^sha256:[0-9a-f]{64}$/).meta({ description: 'sha256:<64 hex digits>' });
const scheme = z.enum(PASS_SCHEMES);
const degrees = z.number().min(0).max(180);
/** An angle for each low format the site was measured in. */
const byScheme = z.partialRecord(scheme, degrees);

const siteRow = z.strictObject({
  format: z.enum(['bf16', ...PASS_SCHEMES]).meta({ description: 'bf16: high precision' }),
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
    rht: z.literal(false),
    sr: z.literal(false),
    weights1d: z.boolean().meta({ description: '1x16 instead of 16x16 weight blocks' }),
  }),
  sites: z.record(z.string(), siteRow).meta({ description: 'Keyed by <node>:fprop|dgrad|wgrad; every site that the recipe can lower' }),
  floorDeg: z.strictObject({ forward: degrees, backward: degrees }).nullable(),
  totals: z.strictObject({
    hpGemmWork: z.number().min(0).max(1),
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
