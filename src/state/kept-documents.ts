/**
 * Plans and their history across reloads: one localStorage entry a model, so opening another model never costs a plan.
 * The last few models are kept. What comes back is checked against the open graph before it is trusted: storage is
 * shared with every page of the origin, and an older build may have known other formats.
 */
import { z } from 'zod';
import { toPlainError } from '../base/errors';
import { PASS_SCHEMES, RECIPE_NAMES, type RecipeName, type SiteId } from '../graph/policy';
import { paintableSites } from '../graph/sites';
import type { Graph } from '../graph/types';
import { validateOptions } from '../graph/validate';
import { documentOptions, HISTORY_STEPS, openDocument, type DocumentState, type DocumentStore } from './document';

export const KEPT_MODELS = 5;
/** Followed by the model's sha256. */
const DOCUMENT_KEY = 'bendscope-document/2/';
/** Model hashes, the last edited first. */
const ORDER_KEY = 'bendscope-documents/2';

const orderSchema = z.array(z.string());

const planSchema = z.object({ name: z.string(), formats: z.record(z.string(), z.enum(['bf16', ...RECIPE_NAMES])), locked: z.record(z.string(), z.literal(true)), notes: z.string() });
const secondSchema = z.enum(PASS_SCHEMES).nullable().default(null);
const optionsSchema = z.unknown().optional().transform((value) => validateOptions(value));

/**
 * What a saved document of this model must look like: every site that its recipe decides over in a known format, nothing
 * else locked. Documents of the time before there were recipes name none: they are of NVFP4.
 */
function savedSchema(modelSha256: string, graph: Graph) {
  const sites = (recipe: RecipeName): ReadonlySet<SiteId> => new Set(paintableSites(graph, recipe).map((site) => site.id));
  const fits = (recipe: RecipeName, { formats, locked }: z.infer<typeof planSchema>): boolean => {
    const known = sites(recipe);
    return [...known].every((id) => Object.hasOwn(formats, id)) && [...Object.keys(formats), ...Object.keys(locked)].every((id) => known.has(id));
  };
  const left = z.partialRecord(z.enum(RECIPE_NAMES), z.object({ plan: planSchema, options: optionsSchema, second: secondSchema }));
  const saved = z.object({ id: z.string(), slot: z.number().nullable(), recipe: z.enum(RECIPE_NAMES), options: optionsSchema, second: secondSchema, plan: planSchema });
  const state = z
    .object({ recipe: z.enum(RECIPE_NAMES).default('nvfp4'), options: optionsSchema, second: secondSchema, plan: planSchema, left: left.default({}), saved: z.array(saved).default([]), modelSha256: z.literal(modelSha256), label: z.string() })
    .refine(({ recipe, plan }) => fits(recipe, plan))
    .refine((saved) => RECIPE_NAMES.every((recipe) => saved.left[recipe] === undefined || fits(recipe, saved.left[recipe].plan)))
    .transform((saved) => ({ ...saved, options: documentOptions(saved.recipe, saved.second, saved.options) }));
  return z.object({ present: state, past: z.array(state), future: z.array(state) });
}

/** Restores what `keepDocument` wrote for this model. False if there is nothing, nothing that fits the graph, or no storage. */
export function restoreDocument(store: DocumentStore, graph: Graph, modelSha256: string, storage: Pick<Storage, 'getItem'>): boolean {
  try {
    const text = storage.getItem(DOCUMENT_KEY + modelSha256);
    if (text === null) return false;
    const saved = savedSchema(modelSha256, graph).parse(JSON.parse(text));
    const { modelSha256: of, label, ...content } = saved.present;
    openDocument(store, content, of, label);
    store.temporal.setState({ pastStates: saved.past.slice(-HISTORY_STEPS), futureStates: saved.future });
    return true;
  } catch {
    // Damaged, foreign or refused: a fresh plan is always right.
    return false;
  }
}

function readOrder(storage: Pick<Storage, 'getItem'>): string[] {
  try {
    return orderSchema.parse(JSON.parse(storage.getItem(ORDER_KEY) ?? '[]'));
  } catch {
    return [];
  }
}

export interface Keeper {
  /** Writes what still waits, at once: the page is about to go. */
  flush(): void;
  stop(): void;
}

/** Writes plan and history after every change; a full or missing storage only loses the copy, never the plan. */
export function keepDocument(store: DocumentStore, storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>, onSaved?: (kept: boolean) => void): Keeper {
  let waiting: ReturnType<typeof setTimeout> | null = null;
  const rest = (): void => {
    if (waiting !== null) clearTimeout(waiting);
    waiting = null;
  };
  const write = (present: DocumentState): void => {
    rest();
    if (!present.plan) return;
    const { pastStates, futureStates } = store.temporal.getState();
    const text = JSON.stringify({ present, past: pastStates, future: futureStates });
    try {
      const kept = [present.modelSha256, ...readOrder(storage).filter((sha) => sha !== present.modelSha256)];
      for (const gone of kept.splice(KEPT_MODELS)) storage.removeItem(DOCUMENT_KEY + gone);
      while (!storeText(storage, DOCUMENT_KEY + present.modelSha256, text)) {
        // The plan in hand comes before the plan of a model not opened for longest.
        const gone = kept.length > 1 ? kept.pop() : undefined;
        if (gone === undefined) throw new Error('full');
        storage.removeItem(DOCUMENT_KEY + gone);
      }
      storage.setItem(ORDER_KEY, JSON.stringify(kept));
      onSaved?.(true);
    } catch {
      // Quota or a private window: the plan stays in memory.
      onSaved?.(false);
    }
  };
  const unsubscribe = store.subscribe((now, before) => {
    // Another model opens: its plan replaces this one before the pause is over. The history is still the old one here.
    if (waiting !== null && now.modelSha256 !== before.modelSha256) write(before);
    rest();
    waiting = setTimeout(() => write(store.getState()), 100);
  });
  return {
    flush() {
      if (waiting !== null) write(store.getState());
    },
    stop() {
      rest();
      unsubscribe();
    },
  };
}

/** Stores a text; false when the quota does not allow it, throws when the storage refuses for another reason. */
function storeText(storage: Pick<Storage, 'setItem'>, key: string, text: string): boolean {
  try {
    storage.setItem(key, text);
    return true;
  } catch (thrown) {
    if (toPlainError(thrown).name === 'QuotaExceededError') return false;
    throw thrown;
  }
}
