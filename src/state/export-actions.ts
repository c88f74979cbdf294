/**
 * Taking a plan home: each target's file, how well it holds the plan in hand, and its patterns against a pasted list of
 * layer names (formats.md 6, ux.md 4.2). The targets themselves come with the drawer: the page opens without them.
 */
import { checkNames, type NameCheck } from '../allocate/exports/check-names';
import type { ExportContext, ExportTarget, Fit, RenderedFile } from '../allocate/exports/export-target';
import type { NameMapping } from '../allocate/exports/names';
import type { Plan } from '../allocate/plan';
import { toPlainError } from '../base/errors';
import type { ActionContext } from './context';
import { allocationFactsOf } from './exported-facts';
import { notifyError } from './facts';
import { tableFactsOf } from './table-facts';

export function createExportActions({ document, facts, shown }: ActionContext) {
  const asked = (names?: NameMapping): { readonly plan: Plan; readonly context: ExportContext } | null => {
    const { plan } = document.getState();
    const now = shown();
    if (!plan || !now.graph) return null;
    const { graph, modelSha256, recipe, options } = now;
    return { plan, context: { graph, modelSha256, recipe, options, facts: allocationFactsOf(now, plan), table: tableFactsOf(now), ...(names ? { names } : {}) } };
  };
  return {
    /** The file, or null without a plan or, with a notice (E-EXP-03), where the target cannot hold it. */
    exportPlan(target: ExportTarget, names?: NameMapping): RenderedFile | null {
      const found = asked(names);
      if (!found) return null;
      try {
        return target.render(found.plan, found.context);
      } catch (thrown) {
        notifyError(facts, toPlainError(thrown));
        return null;
      }
    },
    /** The badge of the plan in hand; null without one. */
    fitOf(target: ExportTarget, names?: NameMapping): Fit | null {
      const found = asked(names);
      return found && target.fits(found.plan, found.context);
    },
    /** Null without a plan, and for targets that hold no layer names. */
    checkNames(target: ExportTarget, names: NameMapping | undefined, pasted: string): NameCheck | null {
      const found = asked(names);
      return found && checkNames(pasted, target, found.plan, found.context);
    },
  };
}
