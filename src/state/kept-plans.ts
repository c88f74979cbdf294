/**
 * The shape of a document in storage. Plans are written once, however many steps of the history hold them, and steps refer
 * to them by number: the same plan is then the same object after a reload too. What comes back is checked against the open
 * graph before it is trusted. Documents of version 2 hold each plan where it stands; they still open.
 */
import * as z from 'zod/mini';
import type { Plan } from '../allocate/plan';
import { PASS_SCHEMES, RECIPE_NAMES, type RecipeName, type SiteId } from '../graph/policy';
import { RECIPES } from '../graph/recipes';
import { paintableSites } from '../graph/sites';
import type { Graph } from '../graph/types';
import { validateOptions } from '../graph/validate';
import { documentOptions, type DocumentState, type LeftRecipe } from './document';
import { SLOTS, type SavedPlan } from './saved-plans';

/** A document with its history, the present first. */
export interface KeptDocument {
  readonly present: DocumentState;
  readonly past: readonly Partial<DocumentState>[];
  readonly future: readonly Partial<DocumentState>[];
}

/** Plans and saved plans as numbers into lists of their own. */
class Pool {
  readonly plans: Plan[] = [];
  readonly saved: object[] = [];
  readonly #plans = new Map<Plan, number>();
  readonly #saved = new Map<SavedPlan, number>();

  plan(plan: Plan): number {
    return numbered(plan, plan, this.#plans, this.plans);
  }
  save(saved: SavedPlan): number {
    return this.#saved.get(saved) ?? numbered(saved, { ...saved, plan: this.plan(saved.plan) }, this.#saved, this.saved);
  }
}

function numbered<K, V>(key: K, value: V, numbers: Map<K, number>, list: V[]): number {
  const known = numbers.get(key);
  if (known !== undefined) return known;
  numbers.set(key, list.length);
  return list.push(value) - 1;
}

/** Version 3 as a text. */
export function writeKept({ present, past, future }: KeptDocument): string {
  const pool = new Pool();
  const step = ({ plan, left = {}, saved = [], ...rest }: Partial<DocumentState>): object => ({
    ...rest,
    plan: plan == null ? null : pool.plan(plan),
    left: Object.fromEntries(Object.entries(left).map(([recipe, kept]) => [recipe, { ...kept, plan: pool.plan(kept.plan) }])),
    saved: saved.map((one) => pool.save(one)),
  });
  const steps = { present: step(present), past: past.map(step), future: future.map(step) };
  return JSON.stringify({ plans: pool.plans, saved: pool.saved, ...steps });
}

const recipeSchema = z.enum(RECIPE_NAMES);
const secondSchema = z._default(z.nullable(z.enum(PASS_SCHEMES)), null);
const optionsSchema = z.pipe(z.optional(z.unknown()), z.transform((value) => validateOptions(value)));
const planSchema = z.object({ name: z.string(), formats: z.record(z.string(), z.enum(['bf16', ...RECIPE_NAMES])), locked: z.record(z.string(), z.literal(true)), notes: z.string() });

/** The schema of a document whose plans are `plan` and whose saved plans are `saved`. */
function schemaOf(modelSha256: string, graph: Graph, plan: z.ZodMiniType<Plan>, saved: z.ZodMiniType<SavedPlan>) {
  const fits = fitting(graph);
  const left = z.partialRecord(recipeSchema, z.object({ plan, options: optionsSchema, second: secondSchema }));
  const read = z
    .object({ recipe: z._default(recipeSchema, 'nvfp4'), options: optionsSchema, second: secondSchema, plan, left: z._default(left, {}), saved: z._default(z.array(saved), []), modelSha256: z.literal(modelSha256), label: z.string() })
    .check(
      z.refine(({ recipe, second, plan: own }) => fits(recipe, second, own)),
      z.refine(({ left: all }) => (Object.entries(all) as [RecipeName, LeftRecipe][]).every(([recipe, kept]) => fits(recipe, kept.second, kept.plan))),
    );
  const step = z.pipe(read, z.transform((kept): DocumentState => ({ ...kept, left: kept.left as DocumentState['left'], options: documentOptions(kept.recipe, kept.second, kept.options) })));
  return z.object({ present: step, past: z.array(step), future: z.array(step) });
}

function savedSchema(graph: Graph, plan: z.ZodMiniType<Plan>) {
  const fits = fitting(graph);
  return z
    .object({ id: z.string(), slot: z.nullable(z.int().check(z.gte(1), z.lte(SLOTS))), recipe: recipeSchema, options: optionsSchema, second: secondSchema, plan })
    .check(z.refine(({ recipe, second, plan: own }) => fits(recipe, second, own)));
}

/**
 * Whether a plan is one of a recipe: every site that it decides over in a format that it has, nothing else locked, and a
 * second format of passes only.
 */
function fitting(graph: Graph): (recipe: RecipeName, second: DocumentState['second'], plan: Plan) => boolean {
  const known = new Map<RecipeName, ReadonlySet<SiteId>>();
  return (recipe, second, { formats, locked }) => {
    const sites = known.get(recipe) ?? new Set(paintableSites(graph, recipe).map((site) => site.id));
    known.set(recipe, sites);
    if (second !== null && (second === recipe || RECIPES[recipe].kind === 'out')) return false;
    const isHeld = (format: string): boolean => format === 'bf16' || format === recipe || format === second;
    return [...sites].every((id) => Object.hasOwn(formats, id)) && Object.values(formats).every(isHeld) && [...Object.keys(formats), ...Object.keys(locked)].every((id) => sites.has(id));
  };
}

const indexOf = (list: readonly unknown[]) => z.int().check(z.gte(0), z.lte(list.length - 1));

/** A text of writeKept -> the document. Throws where it is damaged, foreign or of another graph. */
export function readKept(text: string, modelSha256: string, graph: Graph): KeptDocument {
  const raw: unknown = JSON.parse(text);
  const plans = z.object({ plans: z.array(planSchema) }).parse(raw).plans;
  const planNumber = z.pipe(indexOf(plans), z.transform((n): Plan => plans[n]!));
  const saved = z.object({ saved: z.array(savedSchema(graph, planNumber)) }).parse(raw).saved;
  const savedNumber = z.pipe(indexOf(saved), z.transform((n): SavedPlan => saved[n]!));
  return schemaOf(modelSha256, graph, planNumber, savedNumber).parse(raw);
}

/** The same of a text of version 2. Documents of the time before there were recipes name none: they are of NVFP4. */
export function readKept2(text: string, modelSha256: string, graph: Graph): KeptDocument {
  return schemaOf(modelSha256, graph, planSchema, savedSchema(graph, planSchema)).parse(JSON.parse(text));
}
