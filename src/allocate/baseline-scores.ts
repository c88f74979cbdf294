/**
 * Methods that give every site a score in its low format and keep those with the largest scores in BF16, as far as the budget
 * reaches (method.md 7, formats.md 7). Each solves its own knapsack exactly, the score in the place of the squared tangent and
 * without a floor, so that what differs from our plan is the score and not the optimiser.
 */
import type { RecipeName, SiteFormat, SiteId } from '../graph/policy';
import { RECIPES } from '../graph/recipes';
import type { BaselineInputs, BaselineMethod } from './baseline-method';
import { poseQuestion, type FormatOffer, type SiteChoice } from './choices';
import { byPrecision, formatOf, type CostedSite } from './cost';
import { solveWithin } from './within';

/** A site's score in a low format; null: it has none there, so the method keeps it out of that format; undefined: not measured. */
type Scored = number | null | undefined;
type ScoreOf = (inputs: BaselineInputs, site: CostedSite, format: RecipeName) => Scored;

function resultOf({ recipe, evidence }: BaselineInputs, id: SiteId, format: RecipeName) {
  return (format === recipe ? evidence.sites : evidence.byFormat?.[format])?.[id];
}

const localError: ScoreOf = (inputs, { id }, format) => {
  const result = resultOf(inputs, id, format);
  return result?.status === 'measured' ? (result.localError ?? undefined) : result && null;
};

const lossChange: ScoreOf = (inputs, { id }, format) => {
  const result = resultOf(inputs, id, format);
  return result?.status === 'measured' ? result.lossChange : result && null;
};

/** It sees no error of the backward passes: to it they are free to run low. */
const firstOrder: ScoreOf = ({ recipe, scores }, { id, pass }, format) => {
  if (pass === 'dgrad' || pass === 'wgrad') return 0;
  return format === recipe ? scores[id]?.firstOrder : undefined;
};

const snip: ScoreOf = ({ recipe, scores }, { id }, format) => (format === recipe ? scores[id]?.snip : undefined);

function scoreMethod(id: string, name: string, scoreName: string, sentence: string, scoreOf: ScoreOf): BaselineMethod {
  return {
    id, name, sentence, kind: 'budget', scoreName,
    appliesTo: () => true,
    formats(inputs, budget) {
      const { sites, recipe, groups } = inputs;
      const missing = sites.filter((site) => scoreOf(inputs, site, recipe) === undefined).length;
      if (missing > 0) return { reason: `needs ${missing} ${missing === 1 ? 'site' : 'sites'} measured` };
      const { formats, feasible } = solveWithin(poseQuestion(sites.map((site) => choiceOf(inputs, site, scoreOf)), groups), { cost: budget });
      return feasible ? formats : { reason: 'its cheapest plan costs more than the budget' };
    },
    score(inputs, formats) {
      let sum = 0;
      for (const site of inputs.sites) {
        const format = formatOf(formats, site.id);
        const own = format === 'bf16' ? 0 : scoreOf(inputs, site, format);
        if (own === null || own === undefined || !Number.isFinite(own)) return null;
        sum += own;
      }
      return sum;
    },
  };
}

/** Formats without a score are not offered; a score below 0 (a loss that fell) counts as 0. */
function choiceOf(inputs: BaselineInputs, site: CostedSite, scoreOf: ScoreOf): SiteChoice {
  const { costs } = inputs;
  const offer = (format: SiteFormat, score: number): FormatOffer => ({ format, cost: costs.of(site.id, format), tan2: Math.max(0, score), floorTan2: 0 });
  const low = lowFormats(inputs).flatMap((format) => {
    const own = scoreOf(inputs, site, format);
    return own === null || own === undefined ? [] : [offer(format, own)];
  });
  return { id: site.id, lock: null, offers: [offer('bf16', 0), ...low] };
}

/** The recipe's format and the second, highest precision first. */
function lowFormats({ recipe, second }: BaselineInputs): RecipeName[] {
  return second && RECIPES[second].kind === RECIPES[recipe].kind ? [recipe, second].sort(byPrecision({})) : [recipe];
}

export const SCORE_METHODS: readonly BaselineMethod[] = [
  scoreMethod('local-error', 'Local error', 'local error', 'Sites whose own output is reconstructed worst, |error|^2 / |output|^2, stay in BF16.', localError),
  scoreMethod('loss', 'Loss sensitivity', 'loss change', 'Sites that raise the loss most when they alone run low stay in BF16; where the loss falls that counts as 0.', lossChange),
  scoreMethod('first-order', 'First order (ModelOpt)', 'gradient x error, squared', 'Sites with the largest sum of (gradient x output error)^2 stay in BF16; backward passes, whose error it cannot see, run low.', firstOrder),
  scoreMethod('snip', 'SNIP-like', 'loss and weight divergence', 'Sites that move the loss (forward) or the weight update (backward) most to first order stay in BF16.', snip),
];
