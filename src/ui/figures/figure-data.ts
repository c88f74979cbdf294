/**
 * From the page's state to what figures are drawn of: the only file here that knows the state. Everything shows the
 * committed plan, all cells and the same fill as the page; what happens under the hand is left out.
 */
import { formatOf } from '../../allocate/cost';
import type { Plan } from '../../allocate/plan';
import type { SiteId } from '../../graph/policy';
import { PASS_LABELS } from '../../graph/sites';
import {
  BENDS_MORE, costChoiceOf, costOf, fillOf, FILL_WORDS, formatName, frontierOf, hashOfPlan, jointOf, provenanceOf, recipeName, totalsOf, unstableOf,
  type DocumentState, type Fill, type Shown, type ViewState,
} from '../../state';
import { costAxis } from '../budget/cost-words';
import { planPoints } from '../budget/frontier-points-of';
import { NAMED_PAIRS, pairsAboveNoise, scatterPoints } from '../budget/scatter-panel';
import { distinctPairs } from '../charts/pairs';
import type { HeatCell, Mark } from '../charts/heatmap';
import { ANGLE_DOMAIN } from '../charts/scales';
import { gridModel, heatCells, markOf } from '../grid/grid-model';
import type { FigureCell, FigureInputs, FigurePlan, FigureSource } from './figure-types';

export interface FigureState {
  readonly shown: Shown;
  readonly document: DocumentState;
  readonly view: Pick<ViewState, 'fill' | 'cost' | 'ratios' | 'times' | 'pinned'>;
  /** Text of the plan as allocation.json, for its manifest; null where it was not made. */
  readonly allocation: string | null;
}

/** Null without a model or a plan. */
export function figureInputs({ shown, document, view, allocation }: FigureState): FigureInputs | null {
  const { graph } = shown;
  const { plan } = document;
  if (graph === null || plan === null) return null;
  const source = sourceOf(shown, plan, allocation);
  return {
    heatmap: heatInput(shown, plan, view.fill, source),
    frontier: frontierInput(shown, document, plan, { view }, source),
    scatter: scatterInput(shown, source),
  };
}

function sourceOf(shown: Shown, plan: Plan, allocation: string | null): FigureSource {
  const provenance = provenanceOf(shown);
  const { data } = shown;
  const manifest = allocation === null ? null : (JSON.parse(allocation) as { readonly manifest?: unknown }).manifest;
  return {
    model: shown.modelName, modelSha256: shown.modelSha256, recipe: recipeName(shown.recipe, shown.options), plan: plan.name, planHash: hashOfPlan(shown, plan),
    manifest: typeof manifest === 'string' ? manifest : null, device: provenance?.device ?? null,
    data: `${provenance?.dataName ?? data.source}, seed ${data.seed}, ${data.batches} batches of ${data.sequences} x ${data.tokens} tokens`,
    measuredAt: provenance?.startedAt ?? null, note: storedNote(shown),
  };
}

const notHere = ({ sites, measuredHere }: Shown): number => Object.keys(sites).filter((id) => !measuredHere.has(id)).length;

/** What the page's ribbon says, as long as a cell on it was not measured on this device. */
function storedNote(shown: Shown): string | null {
  const [all, left] = [Object.keys(shown.sites).length, notHere(shown)];
  if (shown.storedProvenance === null || left === 0) return null;
  return `Stored example, measured on ${shown.storedProvenance.device}${left < all ? `: ${left} of ${all} cells` : ''}.`;
}

/** What the hatch of a fill says (state/fills). */
const HATCH_WORDS: Readonly<Record<Fill, string>> = {
  isolated: 'below noise: raw angle under 2 x floor',
  'leave-one-out': 'below noise: under 2 x floor',
  persistent: 'under 2 x its standard error',
  'local-error': 'below noise',
};

function heatInput(shown: Shown, plan: Plan, fill: Fill, source: FigureSource): FigureInputs['heatmap'] {
  const { graph, recipe, measuredHere, leaveOneOutHere, floor } = shown;
  const model = graph === null ? null : gridModel(graph, recipe);
  const here = fill === 'leave-one-out' ? leaveOneOutHere : measuredHere;
  // A picture of stored cells only says so once, in its note.
  const isMixed = here.size > 0;
  const unpredicted = new Set(totalsOf(shown, plan)?.unpredicted.filter((id) => formatOf(plan.formats, id) !== recipe));
  const facts = { fill: fillOf(shown, fill), measuring: null, isStored: (id: SiteId) => isMixed && !here.has(id), unstable: unstableOf(shown, { preview: null }), unpredicted };
  const cells = model === null ? [] : heatCells(model, facts, plan, ANGLE_DOMAIN);
  const head = model?.fixed[0];
  return {
    source, columns: model?.columns ?? 0, groups: model?.groups ?? [],
    rampTitle: FILL_WORDS[fill].subtitle(formatName(recipe)),
    rows: (model?.rows ?? []).map((row) => ({ group: row.groupLabel.short, part: row.pass === 'out' ? null : PASS_LABELS[row.pass] })),
    cells: cells.map(figureCell),
    fixed: head === undefined ? null : { group: head.groupLabel.short, text: 'BF16, kept by the recipe' },
    formats: markNames(plan, cells.map(({ id }) => id)),
    floors: { forwardDeg: floor?.forwardDeg ?? null, backwardDeg: floor?.backwardDeg ?? null },
    hatchWords: HATCH_WORDS[fill], negativeWords: BENDS_MORE,
  };
}

/** `measuring` is a moment on the page; it is never asked for above. */
function figureCell({ id, row, column, wide, state, angleDeg, mark, locked, belowNoise, stored, unstable, unpredicted }: HeatCell): FigureCell {
  return { id, row, column, wide, state: state === 'measuring' ? 'missing' : state, angleDeg, mark, locked, belowNoise, stored, unstable: unstable === true, unpredicted: unpredicted === true };
}

/** What each mark stands for in this plan: "FP8"; where two formats share a letter, both. */
function markNames(plan: Plan, ids: readonly SiteId[]): Partial<Record<Mark, string>> {
  const names = new Map<Mark, Set<string>>();
  for (const id of ids) {
    const format = formatOf(plan.formats, id);
    const mark = markOf(format);
    names.set(mark, (names.get(mark) ?? new Set()).add(formatName(format)));
  }
  return Object.fromEntries([...names].map(([mark, all]) => [mark, [...all].join(' or ')]));
}

/** Line, points and axis as the page's frontier has them, and what a table says besides of each measurement. */
function frontierInput(shown: Shown, document: DocumentState, plan: Plan, { view }: Pick<FigureState, 'view'>, source: FigureSource): FigureInputs['frontier'] {
  const choice = costChoiceOf(view);
  const costs = costOf(shown, choice);
  const line = frontierOf(shown, plan, choice);
  if (costs === null) return { source, axis: { name: 'cost', unit: '%', domain: [0, 1] }, frontier: [], plans: [] };
  const { points } = planPoints(document, shown, choice, choice, view.pinned);
  return {
    source, axis: costAxis(shown, costs),
    frontier: (line?.points ?? []).map((point) => ({ cost: costs.figureOf(point.cost), angleDeg: point.angleDeg })),
    plans: points.map(({ plan: made, ...point }): FigurePlan => {
      const joint = jointOf(shown, made)?.result;
      const measured = joint?.status === 'measured' && joint.angleDeg === point.measuredDeg ? joint : null;
      return { ...point, seDeg: measured?.angleSeDeg ?? null, batches: measured?.perBatch.length ?? null };
    }),
  };
}

function scatterInput({ graph, sites }: Shown, source: FigureSource): FigureInputs['scatter'] {
  const points = scatterPoints(graph, sites);
  return { source, points, pairs: distinctPairs(pairsAboveNoise(points, sites), NAMED_PAIRS) };
}
