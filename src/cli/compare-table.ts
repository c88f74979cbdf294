/** A comparison as lines of text: per budget every plan within it by measured angle, who is lowest, how far predictions were off. */
import { formatDegrees, formatPercent, significant } from '../base/units';
import type { ComparedLevel, ComparedRow, CompareReport } from './compare-report';

export function tableLines(report: CompareReport): string[] {
  const { levels, fixed, plans, gaps } = report;
  return [
    ...levels.flatMap((level) => [...levelLines(report, level), '']),
    'without a budget',
    ...rowLines(report, fixed),
    '',
    ...levels.map((level) => verdict(report, level)),
    gaps.median === null ? 'no plan has both a predicted and a measured angle' : `measured against predicted, ${gaps.plans} plans: median |gap| ${formatPercent(gaps.median)}, largest ${signed(gaps.largest?.relativeGap ?? NaN)} (${tellers(report, gaps.largest?.plan ?? '')})`,
    ...Object.entries(plans).flatMap(([hash, { failure }]) => (failure === null ? [] : [`${tellers(report, hash)}: ${failure}`])),
  ];
}

function levelLines(report: CompareReport, level: ComparedLevel): string[] {
  return [`${report.cost.name} at most ${significant(level.budget, 4)}`, ...rowLines(report, level.rows)];
}

/** Plans by measured angle; those without one last. */
function rowLines({ plans, methods }: CompareReport, rows: readonly ComparedRow[]): string[] {
  const angle = ({ plan }: ComparedRow): number => (plan === null ? Infinity : (plans[plan]?.measuredDeg ?? Infinity));
  const name = (id: string): string => methods.find((method) => method.id === id)?.name ?? id;
  return rows.toSorted((a, b) => angle(a) - angle(b)).map(({ method, plan, reason }) => {
    const found = plan === null ? undefined : plans[plan];
    const label = `  ${name(method).padEnd(34)}`;
    if (found === undefined) return `${label}no plan: ${reason ?? ''}`;
    const measured = found.measuredDeg === null ? 'failed' : `${formatDegrees(found.measuredDeg)}${found.measuredSeDeg === null ? '' : ` +- ${significant(found.measuredSeDeg, 2)}`}`;
    const predicted = found.predictedDeg === null ? 'not predicted' : `predicted ${formatDegrees(found.predictedDeg)}`;
    return `${label}${measured.padEnd(22)}${predicted.padEnd(22)}${(found.relativeGap === null ? '' : signed(found.relativeGap)).padEnd(10)}cost ${significant(found.cost, 4).padEnd(9)}${found.notProbed.length > 0 ? `not ranked: no probe of ${found.notProbed.join(', ')}` : ''}`.trimEnd();
  });
}

function verdict({ methods, cost }: CompareReport, { budget, lowest, ours }: ComparedLevel): string {
  const at = `${cost.name} at most ${significant(budget, 4)}:`;
  const name = (id: string): string => methods.find((method) => method.id === id)?.name ?? id;
  if (lowest.length === 0) return `${at} nothing was measured`;
  if (lowest.includes('ours')) {
    const others = lowest.filter((id) => id !== 'ours');
    const next = ours === null ? '' : `, ${formatDegrees(-ours.excessDeg)} below ${name(ours.rival)}`;
    return `${at} ours is lowest${others.length > 0 ? ` (the plan of ${others.map(name).join(', ')} too)` : ''}${next}`;
  }
  if (ours === null) return `${at} ${lowest.map(name).join(', ')} is lowest; ours has no measured angle`;
  const { excessDeg, excessSeDeg } = ours;
  const sure = excessSeDeg === null ? 'one batch tells no error' : excessDeg <= excessSeDeg ? `within its standard error of ${formatDegrees(excessSeDeg)}` : `beyond its standard error of ${formatDegrees(excessSeDeg)}`;
  return `${at} ${lowest.map(name).join(', ')} is lowest, ours ${formatDegrees(excessDeg)} above, ${sure}`;
}

/** Who comes to a plan, where. */
function tellers({ levels, fixed }: CompareReport, hash: string): string {
  const at = levels.flatMap(({ budget, rows }) => rows.flatMap(({ method, plan }) => (plan === hash ? [`${method} at ${significant(budget, 4)}`] : [])));
  return [...fixed.flatMap(({ method, plan }) => (plan === hash ? [method] : [])), ...at].join(', ');
}

const signed = (share: number): string => `${share < 0 ? '-' : '+'}${formatPercent(Math.abs(share))}`;
