/**
 * In and out: the plan from a file, the plan as a link, the results as a file (files of a plan: export-actions.ts). A file
 * names the device its figures are of; what comes in is checked as a whole first, so a refused file or link changes nothing.
 */
import { importAllocation } from '../allocate/allocation-file';
import { parseShareLink, sharedFormats, shareLink } from '../allocate/share-link';
import { BendscopeError, toPlainError } from '../base/errors';
import { formatDegrees } from '../base/units';
import type { Plan } from '../allocate/plan';
import type { PassScheme, PolicyOptions, RecipeName } from '../graph/policy';
import { PROBE_SCHEMA, type ProbeRecord } from '../graph/probe-record';
import type { ActionContext } from './context';
import { documentOptions, withRecipe } from './document';
import { createDocumentEdits } from './document-edits';
import { notify, notifyError } from './facts';
import { furtherFormats } from './format-use';
import { freshPlan, jointsOf, leaveOneOutOf, provenanceOf } from './selectors';

export function createTransferActions(context: ActionContext) {
  const { document, facts, base, shown, refusedByRun } = context;
  const edits = createDocumentEdits(context);
  /** Takes over recipe, switches and a plan made of the one in hand, as one undo step; false, and a notice, if it holds three low formats. */
  const take = (recipe: RecipeName, options: PolicyOptions, planOf: (inHand: Plan) => Plan, label: string, second?: PassScheme | null): boolean => {
    const { graph } = facts.getState();
    if (!graph) return false;
    const next = withRecipe(document.getState(), recipe, options, () => freshPlan(graph, recipe));
    if (!next.plan) return false;
    const plan = planOf(next.plan);
    // What comes in says all of it: a second format that was chosen before is none of it.
    const own = second ?? furtherFormats(plan, recipe)[0] ?? null;
    return edits.withCells(() => edits.take(plan, label, { ...next, second: own, options: documentOptions(recipe, own, options) }));
  };
  return {
    /** The text of a probe record: every figure on the page, or null while there is none. */
    exportProbe(): string | null {
      const state = shown();
      const provenance = provenanceOf(state);
      if (provenance === null) return null;
      const { recipe, options, referenceLoss, floor, sites, scores } = state;
      const leaveOneOut = leaveOneOutOf(state);
      const record: ProbeRecord = {
        schema: PROBE_SCHEMA, recipe, options, provenance, referenceLoss, floor, sites,
        ...(Object.keys(leaveOneOut).length > 0 ? { leaveOneOut } : {}), joint: jointsOf(state),
        ...(Object.keys(scores).length > 0 ? { scores } : {}),
      };
      return `${JSON.stringify(record, null, 1)}\n`;
    },

    /** Takes over a plan file as one undo step. On failure nothing changes. */
    importAllocation(text: string, fileName: string): boolean {
      const { graph, modelSha256 } = facts.getState();
      try {
        if (!graph) throw new BendscopeError('E-RUN-04', 'import: expected an open model, got none', 'Open a model first.');
        const { recipe, options, plan, file } = importAllocation(text, { graph, modelSha256 }, fileName);
        const isTaken = take(recipe, options, () => plan, `import ${fileName}`);
        const { measuredDeg } = file.totals;
        // Without a hash the formats may have been edited after they were measured.
        if (isTaken && measuredDeg !== null && file.plan.hash !== undefined) {
          notify(facts, { kind: 'info', name: '', message: `${fileName} says: ${formatDegrees(measuredDeg)} measured on ${file.measuredOn?.device ?? 'a device it does not name'}.`, hint: 'The page shows what it measured itself: Verify jointly.' });
        }
        return isTaken;
      } catch (thrown) {
        notifyError(facts, toPlainError(thrown));
        return false;
      }
    },

    /** The whole plan as a link, or null without a plan. */
    shareUrl(): string | null {
      const { plan } = document.getState();
      const { graph, data, recipe, options, second } = shown();
      if (!plan || !graph) return null;
      return base + shareLink(plan.formats, graph, { data: data.source, seed: data.seed, recipe, options, second });
    },

    /** Applies a link's plan if it is of the open model; it never downloads or runs anything. */
    openLink(fragment: string): boolean {
      const { graph, data } = facts.getState();
      const { plan } = document.getState();
      try {
        const link = parseShareLink(fragment);
        if (!link || !graph || !plan) return false;
        const formats = sharedFormats(link, graph);
        if (refusedByRun('the link was not opened')) return false;
        const source = link.data === 'moby-dick' || link.data === 'sotu' ? link.data : data.source;
        if (source !== link.data) notify(facts, { kind: 'info', name: '', message: `The link's plan was made with a text this page has not (${link.data}); angles are for ${source}.`, hint: '' });
        if (source !== data.source || link.seed !== data.seed) facts.setState({ data: { ...data, source, seed: link.seed }, openedData: null });
        return take(link.recipe, link.options, (inHand) => ({ ...inHand, formats: { ...inHand.formats, ...formats } }), 'open link', link.second);
      } catch (thrown) {
        notifyError(facts, toPlainError(thrown));
        return false;
      }
    },
  };
}
