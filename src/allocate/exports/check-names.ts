/**
 * "Check names": the patterns of an export against a pasted list of layer names, before anything is saved. Targets may say
 * nothing about a pattern that matches no layer, and TransformerEngine's debug tool fails on a layer that two match.
 */
import type { Graph } from '../../graph/types';
import type { Plan } from '../plan';
import type { ExportContext, ExportTarget, Selector } from './export-target';
import { NAME_PRESETS, type NamePresetId } from './names';
import { globMatches } from './patterns';
import { blockLinears } from './plan-view';

export interface NameCheck {
  /** Layers of the plan that stand in the list and that exactly one pattern takes. */
  readonly matched: readonly string[];
  /** Layers of the plan that are not in the list. */
  readonly missing: readonly string[];
  /** Names of the list that no pattern takes: norms, embeddings, the head. */
  readonly unmatched: readonly string[];
  /** Names that several patterns take, that two layers of the plan share, or that stand in the list several times. */
  readonly double: readonly string[];
  /** Names that a pattern takes and the plan does not know, such as layers of a deeper model. */
  readonly foreign: readonly string[];
  /** Whether every layer of the plan is matched once, and nothing else is. */
  readonly isGood: boolean;
  /** `matched 48 of 48, 5 other names`. */
  readonly sentence: string;
}

/** Layer names of a pasted text: one a line or comma, quotes and brackets dropped; of parameters their layers, once. */
export function parseNames(text: string): string[] {
  const parts = text.split(/[\s,]+/).map((part) => part.replace(/^[[({'"]+|[\])}'":]+$/g, '')).filter((part) => part !== '');
  const parameters = new Set<string>();
  return parts.flatMap((part) => {
    const layer = part.replace(/\.(weight|bias)$/, '');
    if (layer === part) return [part];
    if (parameters.has(layer)) return [];
    parameters.add(layer);
    return [layer];
  });
}

/** The list against a target's patterns, each by the target's own rule; null for targets without layer names. */
export function checkNames(pasted: string, target: ExportTarget, plan: Plan, context: ExportContext): NameCheck | null {
  const selectors = target.selectors?.(plan, context);
  if (!selectors) return null;
  const { patterns } = selectors;
  const expected = counted(selectors.layers);
  const times = counted(parseNames(pasted));
  const listed = [...times.keys()];
  const takes = new Map(listed.map((name): [string, number] => [name, hits(patterns, name)]));
  const isShared = (name: string): boolean => expected.has(name) && ((times.get(name) ?? 0) > 1 || (expected.get(name) ?? 0) > 1);
  const double = listed.filter((name) => (takes.get(name) ?? 0) > 1 || isShared(name));
  const once = listed.filter((name) => takes.get(name) === 1 && !double.includes(name));
  const matched = once.filter((name) => expected.has(name));
  const foreign = once.filter((name) => !expected.has(name));
  const unmatched = listed.filter((name) => takes.get(name) === 0);
  const missing = [...expected.keys()].filter((name) => !times.has(name));
  const others = [
    ...(missing.length > 0 ? [`${missing.length} of the plan are not in the list`] : []),
    ...(double.length > 0 ? [`${double.length} matched twice`] : []),
    ...(foreign.length > 0 ? [`${foreign.length} matched that the plan does not know`] : []),
    ...(unmatched.length > 0 ? [`${unmatched.length} other names`] : []),
  ];
  return {
    matched, missing, unmatched, double, foreign,
    isGood: matched.length === selectors.layers.length && double.length === 0 && foreign.length === 0,
    sentence: [`matched ${matched.length} of ${selectors.layers.length}`, ...others].join(', '),
  };
}

function counted(names: readonly string[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const name of names) times.set(name, (times.get(name) ?? 0) + 1);
  return times;
}

/** Patterns that take a name. Globs are ordered and the first wins, so of them at most one does. */
function hits(patterns: readonly Selector[], name: string): number {
  const taking = patterns.filter(({ rule, pattern }) => (rule === 'exact' ? pattern === name : rule === 'glob' ? globMatches(pattern, name) : new RegExp(pattern).test(name)));
  const globs = taking.filter(({ rule }) => rule === 'glob').length;
  return taking.length - Math.max(0, globs - 1);
}

export interface SuggestedNames {
  readonly preset: NamePresetId;
  /** What a block is called, with `{layer}`. */
  readonly root: string;
  readonly matched: number;
  /** Layers there are. */
  readonly layers: number;
}

/**
 * The preset and root under which most layers of the plan stand in the list, with how many; null when none does. Roots are
 * read off the list: `module.transformer.h.3.attn.c_attn` gives `module.transformer.h.{layer}`.
 */
export function suggestNames(pasted: string, graph: Graph): SuggestedNames | null {
  const names = new Set(parseNames(pasted));
  const layers = blockLinears(graph);
  let best: SuggestedNames | null = null;
  for (const [id, { groups }] of Object.entries(NAME_PRESETS) as [NamePresetId, (typeof NAME_PRESETS)[NamePresetId]][]) {
    const ofGroup = new Map(Object.entries(groups));
    const roots = new Set([...names].flatMap((name) => [...ofGroup.values()].flatMap((rest) => {
      const block = name.endsWith(`.${rest}`) ? name.slice(0, -rest.length - 1) : null;
      return block !== null && /(^|\.)\d+$/.test(block) ? [block.replace(/\d+$/, '{layer}')] : [];
    })));
    for (const root of roots) {
      const matched = layers.filter(({ layer, group }) => names.has(`${root.replaceAll('{layer}', String(layer))}.${ofGroup.get(group) ?? ''}`)).length;
      if (matched > (best?.matched ?? 0)) best = { preset: id, root, matched, layers: layers.length };
    }
  }
  return best;
}
