/**
 * Dock: bytes on the device by kind. Left a probe of what is shown, predicted before Run and really held once it has
 * begun; right whole runs of the current plan, as training does, beside those of BF16: what keeping outputs low saves.
 */
import { formatBytes, formatPercent, signed } from '../../base/units';
import type { Ledger } from '../../graph/ledger';
import { ledgerRows, memoryOf, planMemoryOf, recipeName } from '../../state';
import { useFacts, usePlans } from '../workbench';

/** "+1.2 %" of b against a; '' where there is nothing to compare. */
function difference(a: number, b: number | null): string {
  if (b === null) return '';
  if (a === b) return '0 %';
  if (a === 0) return 'new';
  return signed(b / a - 1, formatPercent);
}

interface TableProps {
  readonly caption: string;
  /** Names of the two columns compared. */
  readonly names: readonly [string, string];
  readonly first: Ledger;
  /** Null: not known yet. */
  readonly second: Ledger | null;
  readonly note: string;
}

function LedgerTable({ caption, names, first, second, note }: TableProps) {
  const rows = ledgerRows(second ? [first, second] : [first]);
  const bytes = (of: (ledger: Ledger) => number): readonly [string, string, string] => [
    formatBytes(of(first)), second ? formatBytes(of(second)) : '', difference(of(first), second ? of(second) : null),
  ];
  const cells = (of: (ledger: Ledger) => number) => bytes(of).map((text, i) => <td key={i} className="number">{text === '' && i === 1 ? <span className="muted">not yet</span> : text}</td>);
  return (
    <div>
      <table className="table ledger">
        <caption>{caption}</caption>
        <thead><tr><th scope="col">kind</th><th scope="col" className="number">{names[0]}</th><th scope="col" className="number">{names[1]}</th><th scope="col" className="number">difference</th></tr></thead>
        <tbody>{rows.map(({ name, bytes: of }) => <tr key={name}><th scope="row">{name}</th>{cells(of)}</tr>)}</tbody>
        <tfoot><tr><th scope="row">Total</th>{cells((ledger) => ledger.totalBytes)}</tr></tfoot>
      </table>
      <p className="muted small">{note}</p>
    </div>
  );
}

export function MemoryPanel() {
  const facts = useFacts((f) => f);
  const { plan, shown } = usePlans();
  const memory = memoryOf(facts);
  const bf16 = planMemoryOf(facts, null);
  const ofPlan = planMemoryOf(facts, shown);
  if (memory === null || bf16 === null || ofPlan === null || !plan) return <p className="empty">Open a model to see what it needs.</p>;
  const { batches, sequences, tokens } = facts.data;
  return (
    <div className="ledgers">
      <LedgerTable caption={`A probe of ${recipeName(facts.recipe, facts.options)}, ${batches} × ${sequences} × ${tokens} tokens`} names={['predicted', 'held']} first={memory.predicted} second={memory.allocated}
        note="Predicted from the model alone; held is what the last probe made. A probe keeps its BF16 reference runs beside the low ones." />
      <LedgerTable caption={`Training “${plan.name}”, ${sequences} × ${tokens} tokens, predicted`} names={['all BF16', plan.name]} first={bf16} second={ofPlan}
        note="Without optimizer state. Outputs in FP8 are kept packed, so activations shrink; passes in low precision shrink nothing that is kept." />
    </div>
  );
}
