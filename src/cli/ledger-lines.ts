/** The memory of a run as lines of text: bytes by what they are for, predicted from the graph and really allocated. */
import { formatBytes, formatPercent } from '../base/units';
import type { Ledger } from '../graph/ledger';

type Row = readonly [name: string, predicted: number, allocated: number];

function rows(predicted: Ledger, allocated: Ledger): Row[] {
  const formats = [...new Set([...Object.keys(predicted.activationBytes), ...Object.keys(allocated.activationBytes)])].sort() as (keyof Ledger['activationBytes'])[];
  return [
    ['weights', predicted.weightBytes, allocated.weightBytes],
    ...formats.map((format): Row => [`activations ${format}`, predicted.activationBytes[format] ?? 0, allocated.activationBytes[format] ?? 0]),
    ['activation gradients', predicted.gradientBytes, allocated.gradientBytes],
    ['parameter gradients', predicted.parameterGradientBytes, allocated.parameterGradientBytes],
    ['scratch', predicted.scratchBytes, allocated.scratchBytes],
    ['all', predicted.totalBytes, allocated.totalBytes],
  ];
}

/** Bytes of all activations that are kept. */
function activationBytes(ledger: Ledger): number {
  return Object.values(ledger.activationBytes).reduce((sum, bytes) => sum + bytes, 0);
}

/** inBf16: the ledger of the same run with nothing low; given, a last line says what its packed activations save. */
export function ledgerLines(predicted: Ledger, allocated: Ledger, inBf16?: Ledger): string[] {
  const line = (name: string, a: string, b: string): string => `${name.padEnd(24)}${a.padStart(12)}${b.padStart(12)}`;
  const table = rows(predicted, allocated).map(([name, a, b]) => line(`  ${name}`, formatBytes(a), formatBytes(b)));
  const [low, high] = [activationBytes(allocated), inBf16 ? activationBytes(inBf16) : 0];
  const saved = inBf16 ? [`activations kept for backward: ${formatBytes(low)}, in BF16 ${formatBytes(high)} (${formatPercent(low / high)})`] : [];
  return [line('memory', 'predicted', 'allocated'), ...table, ...saved];
}
