/** Every site with every figure as CSV, full precision, for pandas or a spreadsheet (ux.md 4.2). */
import { formatOf, totalFlops } from '../../allocate/cost';
import type { Plan } from '../../allocate/plan';
import { findSite } from '../../graph/sites';
import { ranksOf, sitesOf, type FactsState } from '../../state';
import { csv } from '../budget/copy-table';

export const SITE_COLUMNS = [
  'site', 'layer', 'op', 'pass', 'format', 'locked', 'status', 'measured_here', 'angle_deg', 'clean_angle_deg', 'angle_se_deg', 'below_noise', 'relative_shift', 'length_ratio',
  'rotation_share', 'loss_change_nats', 'local_error', 'rank', 'gemm_work_share', 'batches', 'reason',
] as const;

export function sitesCsv(facts: FactsState, plan: Plan): string {
  const { graph } = facts;
  if (!graph) return csv(SITE_COLUMNS, []);
  const all = sitesOf(graph);
  const work = totalFlops(all);
  const ranks = ranksOf(facts);
  const rows = all.map(({ id, pass, flops }) => {
    const site = findSite(graph, id);
    const result = facts.sites[id];
    const m = result?.status === 'measured' ? result : null;
    const row: Record<(typeof SITE_COLUMNS)[number], string | number | boolean | null | undefined> = {
      site: id, layer: site?.layer, op: site?.group, pass, format: formatOf(plan.formats, id), locked: plan.locked[id] === true,
      status: result?.status ?? 'unmeasured', measured_here: facts.measuredHere.has(id),
      angle_deg: m?.angleDeg, clean_angle_deg: m?.cleanAngleDeg, angle_se_deg: m?.angleSeDeg, below_noise: m?.belowNoise, relative_shift: m?.relativeShift,
      length_ratio: m?.lengthRatio, rotation_share: m?.rotationShare, loss_change_nats: m?.lossChange, local_error: m?.localError,
      rank: ranks.get(id), gemm_work_share: flops / work, batches: m?.perBatch.length,
      reason: result?.status === 'failed' ? `${result.errorName}: ${result.reason}` : '',
    };
    return SITE_COLUMNS.map((name) => String(row[name] ?? ''));
  });
  return `${csv(SITE_COLUMNS, rows)}\r\n`;
}
