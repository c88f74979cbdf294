/** The status bar: task with progress and time left, noise floor, memory, saved state, warnings, where the keys are. */
import { useEffect } from 'react';
import { formatBytes, significant } from '../../base/units';
import { RECIPES } from '../../graph/recipes';
import { memoryOf, plural, type Shown } from '../../state';
import { siteShort } from '../grid/site-names';
import { useFacts, useView, useWorkbench } from '../workbench';
import { useTimeLeft } from './use-eta';

function taskOf({ run, recipe, graph, lastRun, checking }: Shown): string {
  if (!run) return checking ? 'Checking the GPU' : lastRun || 'Nothing running';
  const now = run.measuring !== null && graph ? `${run.part === 'isolated' ? 'measuring' : 'leaving out'} ${siteShort(graph, run.measuring)}` : run.phase;
  return `${run.status === 'paused' ? 'Paused' : run.kind === 'probe' ? 'Probe' : 'Joint'}${run.recipe === recipe ? '' : ` of ${RECIPES[run.recipe].label}`}: ${now}`;
}

export function StatusBar() {
  const facts = useFacts((f) => f);
  const saved = useView((v) => v.saved);
  const { view } = useWorkbench();
  const timeLeft = useTimeLeft();
  const { run, floor, notices } = facts;
  const memory = memoryOf(facts);
  const share = run && run.kind === 'probe' && run.total > 0 ? run.done / run.total : null;
  useEffect(() => {
    document.title = share === null ? 'Bendscope' : `(${Math.floor(100 * share)}%) Bendscope`;
  }, [share]);
  const warnings = notices.filter((notice) => notice.kind !== 'info').length;
  return (
    <footer className="status-bar" aria-label="Status">
      <span className="status-task">{taskOf(facts)}</span>
      {share === null || !run ? null : (
        <span>
          <progress max={run.total} value={run.done} aria-label={`${run.done} of ${run.total} cells`} /> {run.done}/{run.total}{timeLeft}
        </span>
      )}
      <span title="What one flipped BF16 ulp does to the gradient">{floor ? `noise floor fw ${significant(floor.forwardDeg, 2)} bw ${significant(floor.backwardDeg, 2)} deg` : 'noise floor not measured'}</span>
      <span>{memory === null ? 'GPU memory not known' : run && memory.allocated ? `GPU ${formatBytes(memory.allocated.totalBytes)} held` : `GPU ${formatBytes(memory.predicted.totalBytes)} predicted`}</span>
      <span title={typeof saved === 'number' ? `at ${new Date(saved).toLocaleTimeString()}` : undefined}>{saved === 'failed' ? 'plan not saved: storage refused' : saved === null ? 'no unsaved edits' : 'plan saved'}</span>
      <span>{warnings === 0 ? '0 warnings' : <button type="button" className="link warn" onClick={() => view.setState({ dock: 'log', dockOpen: true })}>{plural(warnings, 'warning')}</button>}</span>
      <span className="visually-hidden" role="status">{run ? '' : facts.lastRun}</span>
      <span className="status-keys">press <kbd>?</kbd> for keys</span>
    </footer>
  );
}
