/**
 * The first lines of every file: which plan, its hash, how well the file holds it, how many layers must match (targets may
 * say nothing about a pattern that matches no layer), the rounded sites, what to look out for (formats.md 6, ux.md 4.2).
 */
import { APP_VERSION } from '../../base/version';
import type { SiteFormat } from '../../graph/policy';
import { recipeOptions } from '../../graph/recipes';
import { formatOf } from '../cost';
import { badgeText, type Fit } from './export-target';
import { inComment } from './patterns';
import { hashOfPlan, type PlanView } from './plan-view';

export interface HeaderFacts {
  readonly fit: Fit;
  /** Layers that the patterns below must match. */
  readonly mustMatch: number;
  /** How the file is used. */
  readonly usage: readonly string[];
  /** The format the file holds a site in. */
  held(id: string): SiteFormat;
}

export interface Header {
  /** The first line: `bendscope plan B sha256:... fit: exact, must match 48 layers`. */
  readonly summary: string;
  /** All lines as comments of YAML and Python, each ending in a line feed. */
  readonly comment: string;
}

export function headerOf({ plan, context }: PlanView, { fit, mustMatch, usage, held }: HeaderFacts): Header {
  const { graph, modelSha256, recipe, options } = context;
  const switches = Object.entries(recipeOptions(recipe, options)).map(([name, value]) => (value === true ? name : `${name}=${String(value)}`));
  const rounded = fit.rounded.map((id) => `  ${id} ${formatOf(plan.formats, id)} -> ${held(id)}`);
  const summary = `bendscope plan ${plan.name} ${hashOfPlan(plan, context)} fit: ${badgeText(fit)}, must match ${mustMatch} layers`;
  const lines = [
    summary,
    `model ${graph.model} ${modelSha256}, recipe ${[recipe, ...switches].join(' ')}, Bendscope ${APP_VERSION}`,
    ...(rounded.length > 0 ? ['rounded up:', ...rounded] : []),
    ...fit.reasons.map((reason) => `because ${reason}`),
    ...fit.warnings.map((warning) => `note: ${warning}`),
    ...usage,
  ];
  return { summary, comment: lines.map((line) => `# ${inComment(line)}\n`).join('') };
}
