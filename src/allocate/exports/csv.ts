/**
 * Every site as a CSV row, op-group outputs too: its format in the plan and whatever is known of it, for pandas or a
 * spreadsheet (ux.md 4.2). Lines end in CR LF (RFC 4180); an empty field is a figure that does not exist or is not known.
 */
import { RECIPE_NAMES, type RecipeName, type SiteId } from '../../graph/policy';
import type { Persistence, PersistentShift, SiteResult } from '../../graph/probe-record';
import { findSite } from '../../graph/sites';
import { formatOf, totalCost } from '../cost';
import type { Plan } from '../plan';
import type { ExportContext, ExportTarget } from './export-target';
import { fileName } from './layer-target';
import { hashOfPlan, planSites } from './plan-view';

type Field = string | number | boolean | null | undefined;

/** What one measurement of a site gives. */
const FIGURES = [
  'angle_deg', 'clean_angle_deg', 'angle_se_deg', 'below_noise', 'relative_shift', 'length_ratio', 'rotation_share', 'loss_change_nats', 'local_error',
  'persistent_batches', 'persistent_batches_se', 'persistent_draws', 'persistent_draws_se', 'batches',
] as const;

/**
 * Columns in order; units are in their names, angles in degrees. Figures of a measurement are of `angle_format`, the format
 * the site runs in, or the recipe's where it is high; rank and what follows it are the recipe's.
 */
export const SITE_COLUMNS = [
  'site', 'layer', 'op', 'pass', 'format', 'locked', 'status', 'measured_here', 'angle_format', ...FIGURES,
  'rank', 'left_out_angle_deg', 'left_out_takes_away_deg', 'first_order', 'snip', 'cost_share', 'reason', 'plan', 'plan_hash',
] as const;
type Row = Readonly<Record<(typeof SITE_COLUMNS)[number], Field>>;

/** The figure, or nothing where there is only a reason. */
function shiftOf(shift: Persistence['overBatches'] | undefined): PersistentShift | null {
  return shift === undefined || 'reason' in shift ? null : shift;
}

function figures(result: SiteResult | undefined, format: Field): Pick<Row, (typeof FIGURES)[number] | 'status' | 'reason' | 'angle_format'> {
  const m = result?.status === 'measured' ? result : null;
  const [batches, draws] = [shiftOf(m?.persistent?.overBatches), shiftOf(m?.persistent?.overDraws)];
  return {
    status: result?.status ?? 'unmeasured', reason: result?.status === 'failed' ? `${result.errorName}: ${result.reason}` : null, angle_format: m && format,
    angle_deg: m?.angleDeg, clean_angle_deg: m?.cleanAngleDeg, angle_se_deg: m?.angleSeDeg, below_noise: m?.belowNoise, relative_shift: m?.relativeShift, length_ratio: m?.lengthRatio,
    rotation_share: m?.rotationShare, loss_change_nats: m?.lossChange, local_error: m?.localError,
    persistent_batches: batches?.relative, persistent_batches_se: batches?.standardError, persistent_draws: draws?.relative, persistent_draws_se: draws?.standardError,
    // A plan read from a file knows the figures, not the batches they are of.
    batches: m && m.perBatch.length > 0 ? m.perBatch.length : null,
  };
}

interface Angles {
  readonly angleDeg: number;
  readonly cleanAngleDeg: number;
}

/** Angles of a site in a format that is not the recipe's, from results or from the plan's file. */
function anglesIn({ facts, table }: ExportContext, id: SiteId, format: RecipeName): Angles | null {
  const result = table?.other[format]?.[id];
  if (result?.status === 'measured') return result;
  const [angleDeg, cleanAngleDeg] = [facts.otherAngles?.[id]?.angleDeg[format], facts.otherAngles?.[id]?.cleanDeg[format]];
  return angleDeg === undefined || cleanAngleDeg === undefined ? null : { angleDeg, cleanAngleDeg };
}

/** Quoted where it must be. Text that a spreadsheet would run as a formula gets an apostrophe in front. */
function field(value: Field): string {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function text(plan: Plan, context: ExportContext): string {
  const { graph, recipe, facts, table } = context;
  const sites = planSites(graph, plan.formats, recipe);
  const everything = totalCost(sites);
  const hash = hashOfPlan(plan, context);
  const further = RECIPE_NAMES.filter((format) => format !== recipe && sites.some(({ id }) => anglesIn(context, id, format) !== null));
  const columns = [...SITE_COLUMNS, ...further.flatMap((format) => ['angle_deg', 'clean_angle_deg'].map((name) => `${name}_${format.replaceAll('-', '_')}`))];
  const rows = sites.map(({ id, pass, cost }) => {
    const site = findSite(graph, id);
    const format = formatOf(plan.formats, id);
    const without = table?.leftOut[id];
    const row: Row = {
      site: id, layer: site?.layer, op: site?.group, pass, format, locked: plan.locked[id] === true,
      ...figures(facts.sites[id], format === 'bf16' ? recipe : format), measured_here: table?.measuredHere.has(id),
      rank: table?.ranks.get(id), left_out_angle_deg: without?.status === 'measured' ? without.angleDeg : null, left_out_takes_away_deg: table?.takenAwayDeg.get(id),
      first_order: table?.scores[id]?.firstOrder, snip: table?.scores[id]?.snip,
      cost_share: cost / everything, plan: plan.name, plan_hash: hash,
    };
    return [...SITE_COLUMNS.map((column) => row[column]), ...further.flatMap((other) => {
      const angles = anglesIn(context, id, other);
      return [angles?.angleDeg, angles?.cleanAngleDeg];
    })];
  });
  return [columns, ...rows].map((row) => `${row.map(field).join(',')}\r\n`).join('');
}

export const csv: ExportTarget = {
  id: 'csv',
  label: 'Sites as CSV',
  sentence: 'One row a site with its format and every figure.',
  preset: null,
  fits: () => ({ badge: 'exact', rounded: [], reasons: [], warnings: [] }),
  selectors: null,
  render: (plan, context) => ({ fileName: fileName({ plan, context }, 'sites.csv'), mediaType: 'text/csv', text: text(plan, context) }),
};
