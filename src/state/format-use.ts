/**
 * Which low formats a document's plan holds: the recipe's own, and at most one more, which is then its second format. So a
 * link, a file and the solver can always say what every cell is.
 */
import type { Plan } from '../allocate/plan';
import { PASS_SCHEMES, type PassScheme, type RecipeName } from '../graph/policy';

/** Pass formats of a plan beside the recipe's own, in the order of PASS_SCHEMES. */
export function furtherFormats(plan: Plan, recipe: RecipeName): readonly PassScheme[] {
  const used = new Set(Object.values(plan.formats));
  return PASS_SCHEMES.filter((scheme) => scheme !== recipe && used.has(scheme));
}

/** The second format that a plan needs: the one it holds, else the one there is; undefined where it holds two. */
export function secondFor(plan: Plan, recipe: RecipeName, second: PassScheme | null): PassScheme | null | undefined {
  const [first, ...more] = furtherFormats(plan, recipe);
  return more.length > 0 ? undefined : (first ?? second);
}
