/**
 * Plans put aside, as part of the document: saved ones with their recipe and switches, so that each can be recalled,
 * compared and verified later; and A, the plan that others are held against, which belongs to the view (ux.md 3.7 to 3.9).
 * Pure functions of immutable values.
 */
import type { Plan } from '../allocate/plan';
import type { PassScheme, PolicyOptions, RecipeName } from '../graph/policy';

export interface SavedPlan {
  /** Unique in the document and its history: `plan-3`, `before-4`. */
  readonly id: string;
  /** 1 to 9: the key it was stored under; of two plans stored under one key the later has it. */
  readonly slot: number | null;
  readonly recipe: RecipeName;
  readonly options: PolicyOptions;
  readonly second: PassScheme | null;
  readonly plan: Plan;
}

/** What a plan is together with: all of it is needed to run or to price it. */
export type PlanInContext = Pick<SavedPlan, 'recipe' | 'options' | 'second' | 'plan'>;

/** A, whatever is opened or edited afterwards: it names the model it is of. */
export interface PinnedPlan extends PlanInContext {
  readonly name: string;
  readonly modelSha256: string;
}

export const SLOTS = 9;

/** The next free number over every saved plan that the document or its history holds. */
export function nextNumber(held: Iterable<readonly SavedPlan[]>): number {
  let highest = 0;
  for (const saved of held) for (const { id } of saved) highest = Math.max(highest, Number(/-(\d+)$/.exec(id)?.[1] ?? 0));
  return highest + 1;
}

/** The name, or with a number behind it where another saved plan has it: "Plan 2". */
export function freeName(name: string, saved: readonly SavedPlan[]): string {
  const taken = new Set(saved.map(({ plan }) => plan.name));
  for (let n = 2, free = name; ; free = `${name} ${n++}`) if (!taken.has(free)) return free;
}

/** Adds a plan at the end; a slot is taken from whoever has it. */
export function withSaved(saved: readonly SavedPlan[], added: SavedPlan): readonly SavedPlan[] {
  const others = saved.map((other) => (added.slot !== null && other.slot === added.slot ? { ...other, slot: null } : other));
  return [...others, added];
}

/** The plan under a key, or null. */
export function planInSlot(saved: readonly SavedPlan[], slot: number): SavedPlan | null {
  return saved.find((plan) => plan.slot === slot) ?? null;
}

/** Kept of each other's side of a fork; the oldest give way. */
const MOST_BRANCHES = 9;

interface Side extends Pick<SavedPlan, 'recipe' | 'options' | 'second'> {
  readonly plan: Plan | null;
  readonly saved: readonly SavedPlan[];
}

/**
 * The saved plans of `next`, an edit after undo, and what the branch that it ends would lose: the plan at its tip, called
 * `name`, unless it is the same as the edited one or is saved already, and the plans that were put aside on it.
 */
export function withBranch(next: Side, tip: Partial<Side>, name: string, number: number): readonly SavedPlan[] {
  const { recipe, options = {}, second = null, plan, saved: onBranch = [] } = tip;
  const kept = [...next.saved, ...onBranch.filter(({ id }) => !next.saved.some((saved) => saved.id === id))];
  if (!plan || recipe === undefined) return kept;
  const branch: SavedPlan = { id: `before-${number}`, slot: null, recipe, options, second, plan };
  if ([next, ...kept].some((other) => other.plan !== null && isSamePlan(other as PlanInContext, branch))) return kept.length === next.saved.length ? next.saved : kept;
  const branches = [...kept, { ...branch, plan: { ...plan, name: freeName(name, kept) } }].filter(({ id }) => id.startsWith('before-'));
  const gone = new Set(branches.slice(0, -MOST_BRANCHES).map(({ id }) => id));
  return [...kept, { ...branch, plan: { ...plan, name: freeName(name, kept) } }].filter(({ id }) => !gone.has(id));
}

/** Whether two plans are the same in all but their name. */
function isSamePlan(a: PlanInContext, b: PlanInContext): boolean {
  const content = ({ recipe, options, second, plan: { formats, locked, notes } }: PlanInContext): string => JSON.stringify([recipe, options, second, notes, Object.entries(locked).sort(), Object.entries(formats).sort()]);
  return a.plan.formats === b.plan.formats && a.recipe === b.recipe && a.options === b.options ? a.plan.locked === b.plan.locked || content(a) === content(b) : content(a) === content(b);
}
