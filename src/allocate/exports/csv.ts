/**
 * Every site as a CSV row, op-group outputs too: its format in the plan and what was measured of it, for pandas or a
 * spreadsheet. Lines end in CR LF (RFC 4180); an empty field is a figure that does not exist.
 */
import type { SiteResult } from '../../graph/probe-record';
import { findSite } from '../../graph/sites';
import { formatOf, totalCost } from '../cost';
import type { Plan } from '../plan';
import type { ExportContext, ExportTarget } from './export-target';
import { fileName } from './layer-target';
import { hashOfPlan, planSites } from './plan-view';

type Field = string | number | boolean | null | undefined;

/** Columns in order; units are in their names, angles in degrees. */
const COLUMNS = [
  'site', 'layer', 'op', 'pass', 'format', 'locked', 'status', 'angle_deg', 'clean_angle_deg', 'angle_se_deg', 'below_noise', 'relative_shift', 'length_ratio', 'rotation_share',
  'loss_change_nats', 'local_error', 'cost_share', 'reason', 'plan', 'plan_hash',
] as const;
type Row = Readonly<Record<(typeof COLUMNS)[number], Field>>;

function figures(result: SiteResult | undefined): Pick<Row, 'status' | 'reason' | 'angle_deg' | 'clean_angle_deg' | 'angle_se_deg' | 'below_noise' | 'relative_shift' | 'length_ratio' | 'rotation_share' | 'loss_change_nats' | 'local_error'> {
  const m = result?.status === 'measured' ? result : null;
  return {
    status: result?.status ?? 'unmeasured', reason: result?.status === 'failed' ? `${result.errorName}: ${result.reason}` : null,
    angle_deg: m?.angleDeg, clean_angle_deg: m?.cleanAngleDeg, angle_se_deg: m?.angleSeDeg, below_noise: m?.belowNoise, relative_shift: m?.relativeShift, length_ratio: m?.lengthRatio,
    rotation_share: m?.rotationShare, loss_change_nats: m?.lossChange, local_error: m?.localError,
  };
}

/** Quoted where it must be. Text that a spreadsheet would run as a formula gets an apostrophe in front. */
function field(value: Field): string {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function text(plan: Plan, context: ExportContext): string {
  const { graph, recipe, facts } = context;
  const sites = planSites(graph, plan.formats, recipe);
  const everything = totalCost(sites);
  const hash = hashOfPlan(plan, context);
  const rows = sites.map(({ id, pass, cost }): Row => {
    const site = findSite(graph, id);
    return {
      site: id, layer: site?.layer, op: site?.group, pass, format: formatOf(plan.formats, id), locked: plan.locked[id] === true,
      ...figures(facts.sites[id]),
      cost_share: cost / everything, plan: plan.name, plan_hash: hash,
    };
  });
  return [COLUMNS, ...rows.map((row) => COLUMNS.map((column) => field(row[column])))].map((line) => `${line.join(',')}\r\n`).join('');
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
