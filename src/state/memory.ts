/**
 * Bytes on the device, predicted before anything runs (graph/ledger) and beside them what the newest probe really held;
 * and what training a plan would hold, which is where keeping op groups in FP8 saves memory.
 */
import { planPolicy, type Plan } from '../allocate/plan';
import { predictLedger, probeRun, type Ledger } from '../graph/ledger';
import { REFERENCE_POLICY, type PolicyOptions, type RecipeName } from '../graph/policy';
import type { Graph } from '../graph/types';
import type { DataSpec } from '../bridge/protocol';
import { memo } from './memo';
import { sitesOf } from './selectors';
import type { Shown } from './shown';

const probeMemo = memo((graph: Graph, { sequences, tokens, batches }: DataSpec, recipe: RecipeName, options: PolicyOptions, persistent: boolean): Ledger => {
  const shape = { sequences, tokens };
  return predictLedger(graph, shape, probeRun(graph, shape, batches, { recipe, options, persistent }));
});

export interface ProbeMemory {
  readonly predicted: Ledger;
  /** Null until a probe of what is shown has started here. */
  readonly allocated: Ledger | null;
}

/** Of a probe of what is shown; null without a model. */
export function memoryOf({ graph, data, recipe, options, extra, allocated }: Shown): ProbeMemory | null {
  return graph ? { predicted: probeMemo(graph, data, recipe, options, extra.persistent), allocated } : null;
}

const planMemo = memo((graph: Graph, { sequences, tokens }: DataSpec, recipe: RecipeName, options: PolicyOptions, formats: Plan['formats'] | null): Ledger => {
  const policy = formats === null ? REFERENCE_POLICY : planPolicy(formats, sitesOf(graph, recipe), options);
  return predictLedger(graph, { sequences, tokens }, { kind: 'plan', policy });
});

/** Of whole runs of a plan on one batch, as training does; without a plan of the BF16 reference. */
export function planMemoryOf({ graph, data, recipe, options }: Shown, plan: Plan | null): Ledger | null {
  return graph ? planMemo(graph, data, recipe, options, plan?.formats ?? null) : null;
}

export interface LedgerRow {
  readonly name: string;
  bytes(ledger: Ledger): number;
}

/** By kind, activations by the format they are stored in; formats that none of the ledgers has are left out. */
export function ledgerRows(ledgers: readonly Ledger[]): readonly LedgerRow[] {
  const formats = [...new Set(ledgers.flatMap(({ activationBytes }) => Object.keys(activationBytes)))] as (keyof Ledger['activationBytes'])[];
  return [
    { name: 'Weights', bytes: (l) => l.weightBytes },
    ...formats.map((format): LedgerRow => ({ name: `Activations, ${format}`, bytes: (l) => l.activationBytes[format] ?? 0 })),
    { name: 'Activation gradients', bytes: (l) => l.gradientBytes },
    { name: 'Parameter gradients', bytes: (l) => l.parameterGradientBytes },
    { name: 'Scratch', bytes: (l) => l.scratchBytes },
  ];
}
