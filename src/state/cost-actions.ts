/** What plans pay by: the kind of cost, ratios of time, and measured times from a file. Only the view changes. */
import { defaultRatio, type CostKind } from '../allocate/costs';
import { parseGemmTimes } from '../allocate/gemm-times';
import { BendscopeError, toPlainError } from '../base/errors';
import type { SiteFormat } from '../graph/policy';
import type { ActionContext } from './context';
import { costFaultOf, costKindOf, type CostChoice } from './cost-choice';
import { notify, notifyError } from './facts';
import { plural } from './words';

export function createCostActions({ facts, view, shown }: ActionContext) {
  /** Takes a choice over if there are costs under it; else a notice with the reason, and nothing changes. */
  const choose = (choice: CostChoice): boolean => {
    const fault = costFaultOf(shown(), choice);
    if (fault !== null) notifyError(facts, fault);
    else view.setState({ cost: choice.kind, ratios: choice.ratios, times: choice.times, preview: null });
    return fault === null;
  };
  const chosen = (): CostChoice => {
    const { cost, ratios, times } = view.getState();
    return { kind: cost, ratios, times };
  };
  return {
    /** Null, or a kind that the recipe has not: its own. */
    setCost(kind: CostKind | null): boolean {
      const { recipe } = shown();
      return choose({ ...chosen(), kind: kind !== null && costKindOf(recipe, kind) !== costKindOf(recipe, null) ? kind : null });
    },
    /** Time of a format over that of BF16; null: the default. */
    setRatio(format: SiteFormat, value: number | null): boolean {
      const { ratios, ...rest } = chosen();
      const others = Object.fromEntries(Object.entries(ratios).filter(([name]) => name !== format));
      return choose({ ...rest, ratios: value === null || value === defaultRatio(format) ? others : { ...others, [format]: value } });
    },
    /** Measured times as CSV: they count instead of ratios. A file that does not cover the model is refused, and nothing changes. */
    importTimes(text: string, fileName: string): boolean {
      try {
        if (!facts.getState().graph) throw new BendscopeError('E-RUN-04', 'import: expected an open model, got none', 'Open a model first.');
        const times = parseGemmTimes(text, fileName);
        const isTaken = choose({ ...chosen(), kind: 'time', times });
        if (isTaken) notify(facts, { kind: 'info', name: '', message: `${fileName}: ${plural(times.rows, 'time')} taken over`, hint: '' });
        return isTaken;
      } catch (thrown) {
        notifyError(facts, toPlainError(thrown));
        return false;
      }
    },
    /** Ratios count again. */
    clearTimes(): void {
      view.setState({ times: null, preview: null });
    },
  };
}
