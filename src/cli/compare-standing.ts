/**
 * Who turns the gradient least within a budget, as measured, and where ours does not: by how much, and how sure that is.
 * All plans ran on the same batches, so the standard error is that of the difference batch by batch.
 */
import type { ComparedPlan, ComparedRow } from './compare-report';

export interface Standing {
  /** Methods whose measured angle is least among those that cost no more than the budget; several where their plan is the same. */
  readonly lowest: readonly string[];
  /** null where ours, or everything else, has no measured angle here. */
  readonly ours: {
    /** Ours minus the least of the others, negative where ours is lower. */
    readonly rival: string;
    readonly excessDeg: number;
    /** Of that difference over batches; null where there is only one. */
    readonly excessSeDeg: number | null;
  } | null;
}

export function standing(rows: readonly ComparedRow[], plans: Readonly<Record<string, ComparedPlan>>): Standing {
  const ranked = rows.flatMap(({ method, plan }) => {
    const found = plan === null ? undefined : plans[plan];
    return plan === null || found === undefined || found.measuredDeg === null || found.notProbed.length > 0 ? [] : [{ method, plan, angleDeg: found.measuredDeg, perBatchDeg: found.perBatchDeg }];
  }).sort((a, b) => a.angleDeg - b.angleDeg);
  const [first] = ranked;
  const own = ranked.find(({ method }) => method === 'ours');
  const rival = ranked.find(({ method, plan }) => method !== 'ours' && plan !== own?.plan);
  return {
    lowest: first === undefined ? [] : ranked.filter(({ plan }) => plan === first.plan).map(({ method }) => method),
    ours: own === undefined || rival === undefined ? null : { rival: rival.method, excessDeg: own.angleDeg - rival.angleDeg, excessSeDeg: standardError(own.perBatchDeg, rival.perBatchDeg) },
  };
}

/** Of the mean difference of pairs; null for fewer than two. */
export function standardError(a: readonly number[], b: readonly number[]): number | null {
  const differences = a.map((angle, k) => angle - (b[k] ?? NaN));
  const count = differences.length;
  if (count < 2) return null;
  const mean = differences.reduce((sum, d) => sum + d, 0) / count;
  return Math.sqrt(differences.reduce((sum, d) => sum + (d - mean) ** 2, 0) / (count - 1) / count);
}
