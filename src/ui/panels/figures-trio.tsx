/** Predicted, Measured, Gap: always the three together (ux.md 6.7). */
import { formatDegrees, signed } from '../../base/units';
import type { JointResult } from '../../graph/probe-record';

export interface Trio {
  readonly predicted: string;
  readonly measured: string;
  readonly gap: string;
}

/** The three figures of a plan in words; a gap needs both. */
export function trioOf(predictedDeg: number | null, joint: JointResult | null): Trio {
  const result = joint?.result;
  const measuredDeg = result?.status === 'measured' ? result.angleDeg : null;
  const gap = predictedDeg === null || measuredDeg === null ? null : measuredDeg - predictedDeg;
  return {
    predicted: predictedDeg === null ? 'none' : formatDegrees(predictedDeg),
    measured: result?.status === 'failed' ? 'failed' : measuredDeg === null ? 'not yet' : formatDegrees(measuredDeg),
    gap: gap === null ? '–' : signedDegrees(gap),
  };
}

/** "+0.31 deg", "−0.31 deg", "0 deg". */
export function signedDegrees(deg: number): string {
  return deg === 0 ? '0 deg' : signed(deg, formatDegrees);
}

export function FiguresTrio({ trio }: { readonly trio: Trio }) {
  return (
    <dl className="trio">
      <div><dt>Predicted</dt><dd>{trio.predicted}</dd></div>
      <div><dt>Measured</dt><dd>{trio.measured}</dd></div>
      <div><dt>Gap</dt><dd>{trio.gap}</dd></div>
    </dl>
  );
}
