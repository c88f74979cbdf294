/**
 * What an export is: a target, how well it holds a plan, and the file. A target that cannot hold a site rounds it to the
 * higher precision and says so; it never lowers one (formats.md 6, ux.md 4.2). Rows: targets.ts.
 */
import type { RecipeName, SiteId } from '../../graph/policy';
import type { SiteResult, SiteScores } from '../../graph/probe-record';
import type { AllocationContext, AllocationFacts } from '../allocation-file';
import type { Plan } from '../plan';
import type { NameMapping, NamePresetId } from './names';

/** What only a table has room for; of the recipe's own format, as the page shows it. */
export interface TableFacts {
  /** Sites measured on this device, not read from a file. */
  readonly measuredHere: ReadonlySet<SiteId>;
  /** 1 bends most. */
  readonly ranks: ReadonlyMap<SiteId, number>;
  /** Everything low but this site, and the turn in degrees that goes away with it. */
  readonly leftOut: Readonly<Record<SiteId, SiteResult>>;
  readonly takenAwayDeg: ReadonlyMap<SiteId, number | null>;
  readonly scores: Readonly<Record<SiteId, SiteScores>>;
  /** Results in further formats. */
  readonly other: Readonly<Partial<Record<RecipeName, Readonly<Record<SiteId, SiteResult>>>>>;
}

export interface ExportContext extends AllocationContext {
  readonly facts: AllocationFacts;
  readonly table?: TableFacts;
  /** What the layers are called over there; absent: the target's own preset. */
  readonly names?: NameMapping;
}

export interface Fit {
  /** cannot: nothing of the plan's low precision would be left, or its layers have no names. */
  readonly badge: 'exact' | 'rounded' | 'cannot';
  /** Sites that the file holds in a higher precision than the plan: passes, then outputs, in graph order. */
  readonly rounded: readonly SiteId[];
  /** Why sites are rounded, or why nothing can be held. */
  readonly reasons: readonly string[];
  /** What the target will not do as measured though the file holds the plan: refused shapes, switches it has not. */
  readonly warnings: readonly string[];
}

export interface RenderedFile {
  readonly fileName: string;
  readonly mediaType: string;
  readonly text: string;
}

/**
 * How a file picks layers by name: `search` a regular expression anywhere in the name, `exact` the whole name, `glob` a
 * pattern of Python's fnmatch, the first that matches wins.
 */
export type MatchRule = 'search' | 'exact' | 'glob';

export interface Selector {
  readonly rule: MatchRule;
  readonly pattern: string;
}

export interface ExportTarget {
  readonly id: string;
  readonly label: string;
  /** What takes the file, in a few words. */
  readonly sentence: string;
  /** Names used when the context has none; null: the file holds no layer names but our own. */
  readonly preset: NamePresetId | null;
  fits(plan: Plan, context: ExportContext): Fit;
  /** Throws E-EXP-03 where the badge is `cannot`. The same plan and context give the same bytes. */
  render(plan: Plan, context: ExportContext): RenderedFile;
  /** The patterns of the file in its order, and the names of the plan's layers; null where there are none to check. */
  readonly selectors: ((plan: Plan, context: ExportContext) => { readonly patterns: readonly Selector[]; readonly layers: readonly string[] }) | null;
}

/** The text of a badge: `exact`, `2 sites rounded up`, `cannot express`. */
export function badgeText({ badge, rounded }: Fit): string {
  if (badge === 'exact') return 'exact';
  return badge === 'cannot' ? 'cannot express' : `${rounded.length} site${rounded.length === 1 ? '' : 's'} rounded up`;
}
