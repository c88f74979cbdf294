/** Opens the Export drawer; the only filled button once a plan is verified. */
import { primaryAction } from '../panels/primary-action';
import { useDocument, useFacts, useWorkbench } from '../workbench';

export function ExportButton() {
  const { view } = useWorkbench();
  const plan = useDocument((d) => d.plan);
  const isNext = useFacts((facts) => primaryAction(facts, plan) === 'export');
  return (
    <button type="button" className={isNext ? 'button primary' : 'button'} aria-haspopup="dialog" title="Take the plan home as a file" onClick={() => view.setState({ dialog: 'export' })}>
      Export
    </button>
  );
}
