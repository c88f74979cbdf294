/**
 * What a run says of itself, turned into facts. Every event is bound to its run: one that comes after its run ended
 * (stopped, failed, another began) says nothing of what is on the page now and changes nothing.
 */
import type { PlainError } from '../base/errors';
import type { ProbeEvent } from '../bridge/protocol';
import { changeResults, notify, notifyError, type FactsStore, type RunState } from './facts';
import { floorMeasured, jointMeasured, leaveOneOutMeasured, runStarted, scoresMeasured, siteMeasured } from './results';
import { plural } from './words';

export function createRunEvents(facts: FactsStore): (event: ProbeEvent) => void {
  const warned = new Set<string>();
  return (event) => {
    const { run } = facts.getState();
    if (run === null || run.runId !== event.runId) return;
    const update = (part: Partial<RunState>): void => facts.setState({ run: { ...run, ...part } });
    switch (event.kind) {
      case 'started':
        changeResults(facts, run.key, (results) => ({ ...runStarted(results, event.provenance), ...(run.kind === 'probe' ? { allocated: event.allocated } : {}) }));
        update({ done: 0, ...(event.resumedSites > 0 ? { phase: `${plural(event.resumedSites, 'cell')} kept from before` } : {}) });
        break;
      case 'phase':
        update({ phase: event.text, measuring: null });
        break;
      case 'floor':
        changeResults(facts, run.key, (results) => floorMeasured(results, event.floor, event.referenceLoss));
        break;
      case 'scores':
        changeResults(facts, run.key, (results) => scoresMeasured(results, event.scores));
        break;
      case 'measuring':
        update({ measuring: event.site, phase: `measuring ${event.site}` });
        break;
      case 'site':
        changeResults(facts, run.key, (results) => siteMeasured(results, event.site, event.result));
        update({ done: event.done, total: run.rounds * event.total, measuring: null });
        break;
      case 'leave-one-out':
        changeResults(facts, run.key, (results) => leaveOneOutMeasured(results, event.site, event.result));
        update({ part: 'leave-one-out', done: event.total + event.done, total: run.rounds * event.total, measuring: null });
        break;
      case 'joint':
        changeResults(facts, run.key, (results) => jointMeasured(results, event.joint));
        break;
      case 'paused':
        update({ status: 'paused' });
        break;
      case 'finished':
      case 'stopped': {
        const seconds = ((Date.now() - run.startedAtMs) / 1000).toFixed(1);
        const what = run.kind === 'probe' ? `Probe ${run.done}/${run.total}` : 'Joint measurement';
        facts.setState({ run: null, lastRun: `${what} ${event.kind} after ${seconds} s` });
        break;
      }
      case 'warning':
        // Every run may say it again; once dismissed it is known.
        if (warned.has(event.error.message)) break;
        warned.add(event.error.message);
        notify(facts, { kind: 'warning', ...event.error });
        break;
      case 'device':
        facts.setState({ device: event.report });
        break;
      case 'failed':
        facts.setState({ run: null, lastRun: `stopped by ${event.error.name}` });
        notifyError(facts, event.error.name === 'E-GPU-02' ? lostDevice(event.error, run) : event.error);
        break;
    }
  };
}

/** Says what was being measured and what is kept (ux.md 6.8); the driver's own words go behind the advice. */
function lostDevice(error: PlainError, run: RunState): PlainError {
  return {
    name: error.name,
    message: `The GPU stopped answering while ${run.phase || 'measuring'}. ${plural(run.done, 'cell')} of this run ${run.done === 1 ? 'is' : 'are'} kept.`,
    hint: `${error.hint} (${error.message})`,
  };
}
