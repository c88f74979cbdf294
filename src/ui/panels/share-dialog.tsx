/** The link to copy by hand, for browsers that refuse the clipboard. */
import { useActions } from '../workbench';
import { Modal } from './modal';

export default function ShareDialog({ onClose }: { readonly onClose: () => void }) {
  const actions = useActions();
  return (
    <Modal title="Share this plan" onClose={onClose}>
      <label className="field">
        <span>The browser refused the clipboard. Copy this link by hand: it holds the whole plan and opens without a server.</span>
        <input className="input mono" readOnly value={actions.shareUrl() ?? ''} onFocus={(event) => event.target.select()} />
      </label>
    </Modal>
  );
}
