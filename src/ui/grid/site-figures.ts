/**
 * The figures of a site in their fixed order, each with its unit (ux.md 3.6): read by tooltip, inspector and CSV, so that
 * one number is never called two things.
 */
import { formatOf, totalCost } from '../../allocate/cost';
import { SOLVES } from '../../allocate/unstable';
import type { Plan } from '../../allocate/plan';
import { angleOfTanSquared } from '../../base/angle';
import { formatBytes, formatDegrees, formatPercent, significant } from '../../base/units';
import { PASS_SCHEMES, type PolicyOptions, type RecipeName, type SiteId } from '../../graph/policy';
import type { Persistence } from '../../graph/probe-record';
import { keptOutputs, outputBytes, passGemm } from '../../graph/signatures';
import { findSite, type SitePart } from '../../graph/sites';
import type { Graph, Pass } from '../../graph/types';
import { BENDS_MORE, costWords, fillCell, fillDegrees, fillFactsOf, formatName, NO_LOCAL_ERROR, ranksOf, sitesOf, type Shown } from '../../state';
import { methodRanks } from './method-ranks';

export interface Figure {
  readonly key: string;
  readonly label: string;
  readonly value: string;
  /** One sentence for the label's tooltip. */
  readonly explain: string;
  /** Says only that something was not measured: left out where there is little room. */
  readonly quiet?: true;
}

const OPERANDS: Readonly<Record<Pass, string>> = { fprop: 'y = x · w', dgrad: 'dx = dy · wᵀ', wgrad: 'dw = xᵀ · dy' };

/** "y = x · w, [512 × 128] · [128 × 384]", or what an output is and what the backward pass keeps of it, at the calibration batch's size. */
export function siteShapes(graph: Graph, id: SiteId, sequences: number, tokens: number): string {
  const site = findSite(graph, id);
  const node = graph.nodes.find((n) => n.id === site?.node);
  if (!site || !node) return '';
  if (site.pass === 'out') {
    const rows = sequences * tokens;
    const kept = keptOutputs(graph).has(node.id);
    return `y and its arriving gradient, [${rows} × ${node.cols}]; ${kept ? `${formatBytes(outputBytes(node, rows))} kept in BF16` : 'not kept for the backward pass'}`;
  }
  const { m, k, n } = passGemm(node, site.pass, { sequences, tokens });
  return `${OPERANDS[site.pass]}, [${m} × ${k}] · [${k} × ${n}]`;
}

/** Cost of keeping the site in BF16 over that of keeping everything, 0..1. */
export function siteShare(graph: Graph, recipe: RecipeName, id: SiteId): number {
  const all = sitesOf(graph, recipe);
  return (all.find((site) => site.id === id)?.cost ?? 0) / totalCost(all);
}

/** Whether a site's rounding is random: its angle is then that of one draw. Only dy is rounded at random. */
export function isRandom(pass: SitePart, options: PolicyOptions): boolean {
  return options.sr === true && (pass === 'dgrad' || pass === 'wgrad');
}

export function siteFigures(shown: Shown, plan: Plan, id: SiteId): Figure[] {
  const { graph, recipe, options } = shown;
  if (!graph) return [];
  const figures: Figure[] = [];
  const add = (key: string, label: string, value: string, explain: string, quiet?: true): void => {
    figures.push({ key, label, value, explain, ...(quiet ? { quiet } : {}) });
  };
  const result = shown.sites[id];
  const site = findSite(graph, id);
  const low = formatName(recipe);
  if (result?.status === 'measured') {
    const rank = ranksOf(shown).get(id);
    const draw = site && isRandom(site.pass, options) ? ', one draw' : '';
    add('clean', `Bending if ${low}, clean${draw}`, formatDegrees(result.cleanAngleDeg), 'Angle to the BF16 gradient over all parameters with only this site low, the noise floor taken out.');
    add('raw', `Bending, raw${draw}`, formatDegrees(result.angleDeg), 'The measured angle, the noise floor still in it.');
    figures.push(...otherFormatFigures(shown, plan, id));
    add('se', 'Standard error', result.angleSeDeg !== null && result.perBatch.length > 1 ? `± ${formatDegrees(result.angleSeDeg)} (${result.perBatch.length} batches)` : 'unknown (1 batch)', 'Over calibration batches.');
    figures.push(...persistenceFigures(result.persistent, draw !== ''), ...leftOutFigures(shown, id));
    add('rotation', 'Rotation share', significant(result.rotationShare), '1: the shift only rotates the gradient; 0: it only changes its length.');
    add('length', 'Length ratio', `${significant(result.lengthRatio, 4)} ×`, 'Length of the shifted gradient over that of the reference.');
    add('shift', 'Relative shift', formatPercent(result.relativeShift, 2), 'Length of the shift over that of the reference gradient.');
    add('loss', 'Loss change', `${result.lossChange > 0 ? '+' : ''}${significant(result.lossChange, 2)} nats`, 'Of the calibration loss; backward passes cannot change it.');
    const { localError } = result;
    add('local', 'Local error', localError === null ? `not known: ${NO_LOCAL_ERROR}` : `${localErrorText(localError)} (${formatDegrees(angleOfTanSquared(localError))})`, LOCAL_ERROR[site?.pass === 'out' ? 'out' : 'pass']);
    if (rank !== undefined) add('rank', 'Rank', `${rank} of ${sitesOf(graph, recipe).length}`, '1 bends most, by clean angle.');
    add('noise', 'Noise', result.belowNoise ? 'below noise (raw < 2 × floor)' : 'above noise', 'What one flipped BF16 ulp already does to the gradient.');
  } else if (result?.status === 'failed') {
    add('failed', 'Failed', `${result.errorName}: ${result.reason}`, 'Press R on the cell to measure it again.');
  } else {
    add('missing', 'Bending', 'not measured', 'Run the probe to measure it.');
    figures.push(...otherFormatFigures(shown, plan, id), ...leftOutFigures(shown, id));
  }
  figures.push(...methodFigures(shown, id));
  const share = siteShare(graph, recipe, id);
  add('cost', 'Cost in BF16', share === 0 ? 'nothing: not kept' : `${formatPercent(share, 2)} of ${costWords(recipe).of}`,
    site?.pass === 'out' ? 'Bytes that the backward pass keeps of it, over those of all op groups in BF16.' : 'FLOPs of this pass over those of all passes of the block linears.');
  figures.push(...decisionFigures(shown, id));
  add('precision', 'Precision', `${formatName(formatOf(plan.formats, id))}${plan.locked[id] ? ', locked' : ''}`, 'What the current plan gives it.');
  return figures;
}

/** The angle in every other format that was measured on this text; of the one that the plan gives it, also that it was not. */
function otherFormatFigures({ recipe, others }: Shown, plan: Plan, id: SiteId): Figure[] {
  const own = formatOf(plan.formats, id);
  return PASS_SCHEMES.filter((format) => format !== recipe).flatMap((format): Figure[] => {
    const result = others[format]?.[id];
    const label = `Bending if ${formatName(format)}, clean`;
    const explain = 'From a probe of that recipe on the same text under the same switches.';
    if (result?.status === 'measured') return [{ key: `in-${format}`, label, value: `${formatDegrees(result.cleanAngleDeg)} (raw ${formatDegrees(result.angleDeg)})`, explain }];
    if (result?.status === 'failed') return [{ key: `in-${format}`, label, value: `failed: ${result.errorName}: ${result.reason}`, explain }];
    return format === own ? [{ key: `in-${format}`, label, value: 'not measured, so the plan is not predicted', explain: 'Measure this format in the setup, or paint the cell in one that was measured.' }] : [];
  });
}

const METHOD_WORDS = 'Rank by the score that another method goes by, 1 = it would protect this site first: error of the op’s own output; change of the loss (backward passes cannot change it); first order, (gradient × error)²; SNIP-like, loss and weight divergence.';

/** What other methods say of the site. */
function methodFigures(shown: Shown, id: SiteId): Figure[] {
  const ranks = methodRanks(shown, id);
  const figures: Figure[] = [];
  if (ranks.length > 0) {
    const value = ranks.map(({ method, rank, of }) => `${method} ${rank === null ? '–' : `${rank} of ${of}`}`).join(', ');
    figures.push({ key: 'methods', label: 'Others rank it', value, explain: METHOD_WORDS });
  }
  const scores = shown.scores[id];
  if (scores) {
    figures.push(
      { key: 'first-order', label: 'First-order score', value: scores.firstOrder === null ? 'none: it cannot see this pass' : significant(scores.firstOrder), explain: 'Sum of (gradient × error)² over the op’s output, as ModelOpt scores it.' },
      { key: 'snip', label: 'SNIP-like score', value: scores.snip === null ? 'none' : significant(scores.snip), explain: 'Mean over batches of the loss divergence, or of the weight divergence that it causes.' },
    );
  }
  return figures;
}

/** Whether the solver's choice flips within noise; nothing while that is not known. */
function decisionFigures({ unstable }: Shown, id: SiteId): Figure[] {
  if (unstable === null) return [];
  const flips = unstable.flips.get(id) ?? 0;
  return [{ key: 'stability', label: 'Decision', value: flipsText(flips), explain: 'The plan at the same budget, solved anew with every clean angle shifted by its noise; flagged from 5 flips on.', ...(flips === 0 ? { quiet: true as const } : {}) }];
}

/** "flips in 12 of 100 solves within noise". */
export function flipsText(flips: number): string {
  return `flips in ${flips} of ${SOLVES} solves within noise`;
}

const LOCAL_ERROR = {
  pass: "Squared error of the pass's own output over its squared length, its inputs being the reference's; in brackets as an angle.",
  out: 'Squared rounding error of the stored output over its squared length; in brackets as an angle.',
} as const;

/** Two digits after the point, or as many as it takes to say more than zero. */
function localErrorText(error: number): string {
  return error === 0 || error >= 5e-5 ? formatPercent(error, 2) : `${significant(100 * error, 2)} %`;
}

/** What of the shift stays, each with its error, or why it is not known (method.md 1). */
function persistenceFigures(persistent: Persistence | undefined, isDrawn: boolean): Figure[] {
  const overBatches = 'The part of the shift that batches share, over the length of the reference gradient; its jackknife error; its share of the squared shift.';
  if (persistent === undefined) return [{ key: 'batches', label: 'Persists over batches', value: 'not measured', explain: `${overBatches} Tick “What persists” and run.`, quiet: true }];
  return [
    persistenceFigure('batches', persistent.overBatches, overBatches),
    ...(isDrawn || !('reason' in persistent.overDraws)
      ? [persistenceFigure('draws', persistent.overDraws, 'The part of the shift that repeated stochastic roundings of the first batch share, over the length of the reference gradient; its jackknife error; its share of the squared shift.')]
      : []),
  ];
}

/** "1.23 ± 0.20 %, 25 % of the squared shift", or why it is not known. */
function persistenceFigure(of: 'batches' | 'draws', shift: Persistence['overBatches'], explain: string): Figure {
  if ('reason' in shift) return { key: of, label: `Persists over ${of}`, value: `not known: ${shift.reason}`, explain };
  const value = `${significant(100 * shift.relative)} ± ${significant(100 * shift.standardError, 2)} %, ${formatPercent(Math.max(0, shift.share), 0)} of the squared shift`;
  return { key: of, label: `Persists over ${shift.draws} ${of}`, value, explain };
}

/** The angle of everything low but this cell, and what goes away with it. */
function leftOutFigures(shown: Shown, id: SiteId): Figure[] {
  const facts = fillFactsOf(shown);
  const result = facts.leaveOneOut[id];
  const label = 'All low but this one';
  const explain = 'Angle with every cell of the recipe low except this one, and what that takes away of everything low (squared tangents subtract; negative: it bends more without this one low).';
  if (result === undefined) return [{ key: 'left-out', label, value: 'not measured', explain: `${explain} Tick “Leave one out” and run.`, quiet: true }];
  if (result.status === 'failed') return [{ key: 'left-out', label, value: `failed: ${result.errorName}: ${result.reason}`, explain }];
  const { angleDeg, reason } = fillCell('leave-one-out', facts, id);
  const takesAway = angleDeg === null ? `what that takes away is not known: ${reason ?? ''}` : `takes away ${fillDegrees(angleDeg)}${angleDeg < 0 ? `: ${BENDS_MORE}` : ''}`;
  return [{ key: 'left-out', label, value: `${formatDegrees(result.angleDeg)}, ${takesAway}`, explain }];
}
