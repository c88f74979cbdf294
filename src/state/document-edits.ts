/**
 * Edits of the plan in hand as steps of the document: each brings the second format that its cells need with it, and one
 * that would need two is refused in words.
 */
import type { Plan } from '../allocate/plan';
import { RECIPES, type Recipe } from '../graph/recipes';
import type { Stores } from './context';
import { commit, documentOptions, type DocumentContent } from './document';
import { notify } from './facts';
import { furtherFormats, secondFor } from './format-use';
import { formatName } from './words';

export interface DocumentEdits {
  /** Takes over a plan of the recipe in hand, one undo step. False, and a notice, where it cannot be held. */
  take(plan: Plan, label: string, change?: Partial<DocumentContent>): boolean;
  /** Does something to the document; the view then lets go of its preview, and of chosen cells if the recipe's are others now. */
  withCells<T>(act: () => T): T;
}

export function createDocumentEdits({ document, facts, view }: Stores): DocumentEdits {
  const kind = (): Recipe['kind'] => RECIPES[document.getState().recipe].kind;
  return {
    withCells(act) {
      const before = kind();
      const result = act();
      const nothing = { preview: null, hoveredPlan: null };
      view.setState(kind() === before ? nothing : { ...nothing, primary: null, selection: new Set(), hovered: null });
      return result;
    },
    take(plan, label, change = {}) {
      const state = { ...document.getState(), ...change };
      const second = secondFor(plan, state.recipe, state.second);
      if (second === undefined) {
        const names = furtherFormats(plan, state.recipe).map(formatName).join(' and ');
        notify(facts, {
          kind: 'warning', name: 'E-PLAN-12', message: `A plan holds ${formatName(state.recipe)} and one more low format; this one would hold ${names}. Nothing was changed.`,
          hint: 'Paint or unlock the cells in one of them first.',
        });
        return false;
      }
      const options = second === state.second ? state.options : documentOptions(state.recipe, second, state.options);
      commit(document, { ...change, plan, second, options }, label);
      return true;
    },
  };
}
