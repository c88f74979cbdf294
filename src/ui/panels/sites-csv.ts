/** Every site with every figure as CSV, full precision, for pandas or a spreadsheet (ux.md 4.2). */
import { formatOf, totalCost } from '../../allocate/cost';
import type { Plan } from '../../allocate/plan';
import type { Persistence, PersistentShift } from '../../graph/probe-record';
import { findSite } from '../../graph/sites';
import { fillOf, leaveOneOutOf, ranksOf, sitesOf, type Shown } from '../../state';
import { csv } from '../budget/copy-table';

export const SITE_COLUMNS = [
  'site', 'layer', 'op', 'pass', 'format', 'locked', 'status', 'measured_here', 'angle_deg', 'clean_angle_deg', 'angle_se_deg', 'below_noise', 'relative_shift', 'length_ratio',
  'rotation_share', 'loss_change_nats', 'local_error', 'persistent_batches', 'persistent_batches_se', 'persistent_draws', 'persistent_draws_se', 'left_out_angle_deg', 'left_out_takes_away_deg', 'rank', 'cost_share',
  'batches', 'reason',
] as const;

/** The figure, or nothing where there is only a reason. */
function shiftOf(shift: Persistence['overBatches'] | undefined): PersistentShift | null {
  return shift === undefined || 'reason' in shift ? null : shift;
}

export function sitesCsv(facts: Shown, plan: Plan): string {
  const { graph, recipe } = facts;
  if (!graph) return csv(SITE_COLUMNS, []);
  const all = sitesOf(graph, recipe);
  const everything = totalCost(all);
  const leftOut = leaveOneOutOf(facts);
  const takenAway = fillOf(facts, 'leave-one-out');
  const ranks = ranksOf(facts);
  const rows = all.map(({ id, pass, cost }) => {
    const site = findSite(graph, id);
    const result = facts.sites[id];
    const m = result?.status === 'measured' ? result : null;
    const batches = shiftOf(m?.persistent?.overBatches);
    const draws = shiftOf(m?.persistent?.overDraws);
    const without = leftOut[id];
    const row: Record<(typeof SITE_COLUMNS)[number], string | number | boolean | null | undefined> = {
      site: id, layer: site?.layer, op: site?.group, pass, format: formatOf(plan.formats, id), locked: plan.locked[id] === true,
      status: result?.status ?? 'unmeasured', measured_here: facts.measuredHere.has(id),
      angle_deg: m?.angleDeg, clean_angle_deg: m?.cleanAngleDeg, angle_se_deg: m?.angleSeDeg, below_noise: m?.belowNoise, relative_shift: m?.relativeShift,
      length_ratio: m?.lengthRatio, rotation_share: m?.rotationShare, loss_change_nats: m?.lossChange, local_error: m?.localError,
      persistent_batches: batches?.relative, persistent_batches_se: batches?.standardError, persistent_draws: draws?.relative, persistent_draws_se: draws?.standardError,
      left_out_angle_deg: without?.status === 'measured' ? without.angleDeg : undefined, left_out_takes_away_deg: takenAway.get(id)?.angleDeg, rank: ranks.get(id), cost_share: cost / everything, batches: m?.perBatch.length,
      reason: result?.status === 'failed' ? `${result.errorName}: ${result.reason}` : '',
    };
    return SITE_COLUMNS.map((name) => String(row[name] ?? ''));
  });
  return `${csv(SITE_COLUMNS, rows)}\r\n`;
}
