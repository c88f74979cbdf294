/**
 * The figures of a site in their fixed order, each with its unit (ux.md 3.6): read by tooltip, inspector and CSV, so that
 * one number is never called two things.
 */
import { formatOf, totalFlops } from '../../allocate/cost';
import type { Plan } from '../../allocate/plan';
import { formatDegrees, formatPercent, significant } from '../../base/units';
import type { SiteId } from '../../graph/policy';
import { passGemm } from '../../graph/signatures';
import { findSite } from '../../graph/sites';
import type { Graph, Pass } from '../../graph/types';
import { ranksOf, sitesOf, type FactsState } from '../../state';
import { siteName } from './site-names';

export interface Figure {
  readonly key: string;
  readonly label: string;
  readonly value: string;
  /** One sentence for the label's tooltip. */
  readonly explain: string;
}

const OPERANDS: Readonly<Record<Pass, string>> = { fprop: 'y = x · w', dgrad: 'dx = dy · wᵀ', wgrad: 'dw = xᵀ · dy' };

/** "[512 x 128] · [128 x 384], y = x · w": which two operands, at the calibration batch's size. */
export function siteShapes(graph: Graph, id: SiteId, sequences: number, tokens: number): string {
  const site = findSite(graph, id);
  const node = graph.nodes.find((n) => n.id === site?.node);
  if (!site || !node) return '';
  const { m, k, n } = passGemm(node, site.pass, { sequences, tokens });
  return `${OPERANDS[site.pass]}, [${m} × ${k}] · [${k} × ${n}]`;
}

/** FLOPs of this pass over those of all passes of the block linears, 0..1. */
export function siteWork(graph: Graph, id: SiteId): number {
  const all = sitesOf(graph);
  return (all.find((site) => site.id === id)?.flops ?? 0) / totalFlops(all);
}

export function siteFigures(facts: FactsState, plan: Plan, id: SiteId): Figure[] {
  const { graph } = facts;
  if (!graph) return [];
  const figures: Figure[] = [];
  const add = (key: string, label: string, value: string, explain: string): void => {
    figures.push({ key, label, value, explain });
  };
  const result = facts.sites[id];
  if (result?.status === 'measured') {
    const rank = ranksOf(facts).get(id);
    add('clean', 'Bending if NVFP4, clean', formatDegrees(result.cleanAngleDeg), 'Angle to the BF16 gradient over all parameters with only this site low, the noise floor taken out.');
    add('raw', 'Bending, raw', formatDegrees(result.angleDeg), 'The measured angle, the noise floor still in it.');
    add('se', 'Standard error', result.angleSeDeg !== null && result.perBatch.length > 1 ? `± ${formatDegrees(result.angleSeDeg)} (${result.perBatch.length} batches)` : 'unknown (1 batch)', 'Over calibration batches.');
    add('rotation', 'Rotation share', significant(result.rotationShare), '1: the shift only rotates the gradient; 0: it only changes its length.');
    add('length', 'Length ratio', `${significant(result.lengthRatio, 4)} ×`, 'Length of the shifted gradient over that of the reference.');
    add('shift', 'Relative shift', formatPercent(result.relativeShift, 2), 'Length of the shift over that of the reference gradient.');
    add('loss', 'Loss change', `${result.lossChange > 0 ? '+' : ''}${significant(result.lossChange, 2)} nats`, 'Of the calibration loss; backward passes cannot change it.');
    if (result.localError !== null) add('local', 'Local error', formatPercent(result.localError, 2), "Squared error of the pass's own output over its squared length, its inputs being the reference's.");
    if (rank !== undefined) add('rank', 'Rank', `${rank} of ${sitesOf(graph).length}`, '1 bends most, by clean angle.');
    add('noise', 'Noise', result.belowNoise ? 'below noise (raw < 2 × floor)' : 'above noise', 'What one flipped BF16 ulp already does to the gradient.');
  } else if (result?.status === 'failed') {
    add('failed', 'Failed', `${result.errorName}: ${result.reason}`, 'Press R on the cell to measure it again.');
  } else {
    add('missing', 'Bending', 'not measured', 'Run the probe to measure it.');
  }
  add('cost', 'Cost in BF16', `${formatPercent(siteWork(graph, id), 2)} of GEMM work`, 'FLOPs of this pass over those of all passes of the block linears.');
  add('precision', 'Precision', `${formatOf(plan.formats, id) === 'bf16' ? 'BF16' : 'NVFP4'}${plan.locked[id] ? ', locked' : ''}`, 'What the current plan gives it.');
  return figures;
}

/** The whole state of a cell in one sentence, for a screen reader (ux.md 3.7). */
export function siteSentence(facts: FactsState, plan: Plan, id: SiteId): string {
  const { graph } = facts;
  if (!graph) return id;
  const result = facts.sites[id];
  const parts = [siteName(graph, id)];
  if (facts.run?.measuring === id) parts.push('being measured');
  if (result?.status === 'measured') {
    parts.push(`bending ${significant(result.cleanAngleDeg)} degrees`);
    const rank = ranksOf(facts).get(id);
    if (rank !== undefined) parts.push(`rank ${rank} of ${sitesOf(graph).length}`);
    if (result.belowNoise) parts.push('below noise');
  } else if (result?.status === 'failed') parts.push(`failed, ${result.errorName}`);
  else parts.push('not measured');
  parts.push(`precision ${formatOf(plan.formats, id) === 'bf16' ? 'BF16' : 'NVFP4'}`);
  if (plan.locked[id]) parts.push('locked');
  if (result && !facts.measuredHere.has(id)) parts.push('stored example');
  return `${parts.join(', ')}.`;
}
