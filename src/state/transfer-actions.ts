/**
 * In and out: the plan as a file and as a link, the results as a file. A file names the device its figures are of; what
 * comes in is checked as a whole first, so a refused file or link changes nothing.
 */
import { exportAllocation, importAllocation } from '../allocate/allocation-file';
import { parseShareLink, sharedFormats, shareLink } from '../allocate/share-link';
import { BendscopeError, toPlainError } from '../base/errors';
import { PROBE_SCHEMA, type ProbeRecord } from '../graph/probe-record';
import type { ActionContext } from './context';
import { commit } from './document';
import { notify, notifyError, switchResults } from './facts';
import { originOf } from './results';
import { evidenceOf, jointOf, jointsOf, provenanceOf } from './selectors';

export function createTransferActions({ document, facts, base, refusedByRun }: ActionContext) {
  return {
    /** The text of allocation.json, or null without a plan. */
    exportAllocation(): string | null {
      const { plan } = document.getState();
      const state = facts.getState();
      const { graph, modelSha256, recipe, options } = state;
      if (!plan || !graph) return null;
      const result = jointOf(state, plan);
      const joint = result === null ? {} : { [result.planHash]: result };
      return exportAllocation(plan, { ...evidenceOf(state), provenance: originOf(state, joint), joint }, { graph, modelSha256, recipe, options });
    },

    /** The text of a probe record: every figure on the page, or null while there is none. */
    exportProbe(): string | null {
      const state = facts.getState();
      const provenance = provenanceOf(state);
      if (provenance === null) return null;
      const { recipe, options, referenceLoss, floor, sites } = state;
      const record: ProbeRecord = { schema: PROBE_SCHEMA, recipe, options, provenance, referenceLoss, floor, sites, joint: jointsOf(state) };
      return `${JSON.stringify(record, null, 1)}\n`;
    },

    /** Takes over a plan file as one undo step. On failure nothing changes. */
    importAllocation(text: string, fileName: string): boolean {
      const { graph, modelSha256, run, options } = facts.getState();
      try {
        if (!graph) throw new BendscopeError('E-RUN-04', 'import: expected an open model, got none', 'Open a model first.');
        const imported = importAllocation(text, { graph, modelSha256 }, fileName);
        if (run && (imported.options.weights1d ?? false) !== (options.weights1d ?? false)) {
          throw new BendscopeError('E-RUN-05', `${fileName}: it switches 1D weights while a measurement runs.`, 'Stop the run, then import it again.');
        }
        switchResults(facts, { options: imported.options });
        commit(document, imported.plan, `import ${fileName}`);
        return true;
      } catch (thrown) {
        notifyError(facts, toPlainError(thrown));
        return false;
      }
    },

    /** The whole plan as a link, or null without a plan. */
    shareUrl(): string | null {
      const { plan } = document.getState();
      const { graph, data, recipe, options } = facts.getState();
      if (!plan || !graph) return null;
      return base + shareLink(plan.formats, graph, { data: data.source, seed: data.seed, recipe, options });
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
        if (source !== data.source || link.seed !== data.seed) facts.setState({ openedData: null });
        switchResults(facts, { options: link.options, data: { ...data, source, seed: link.seed } });
        commit(document, { ...plan, formats: { ...plan.formats, ...formats } }, 'open link');
        return true;
      } catch (thrown) {
        notifyError(facts, toPlainError(thrown));
        return false;
      }
    },
  };
}
