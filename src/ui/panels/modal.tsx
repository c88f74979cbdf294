/** The native dialog: the browser traps focus, closes on Esc and gives focus back. Mounted means open. Notices that come meanwhile stand in it. */
import { useId, useLayoutEffect, useRef, type ReactNode } from 'react';
import { useWorkbench } from '../workbench';
import { Notices } from './notices';

export interface ModalProps {
  readonly title: string;
  /** A dialog in the middle of the page, or a drawer on its right side. */
  readonly className?: 'modal' | 'drawer';
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function Modal({ title, className = 'modal', onClose, children }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  /** Where the press began: selecting text may end outside the content. */
  const isOnBackdrop = useRef(false);
  const id = useId();
  const { facts, view } = useWorkbench();
  // Before the first notice of its own can come.
  useLayoutEffect(() => {
    view.setState({ noticesFrom: facts.getState().notices.at(-1)?.id ?? 0 });
    return () => view.setState({ noticesFrom: null });
  }, [facts, view]);
  // Closed while it is still in the document, or the browser gives the focus back to nobody.
  useLayoutEffect(() => {
    const node = dialog.current;
    if (node && !node.open) node.showModal();
    return () => node?.close();
  }, []);
  return (
    <dialog
      ref={dialog} className={className} aria-labelledby={id} onClose={onClose}
      onPointerDown={(event) => {
        // Only the backdrop is the dialog itself.
        isOnBackdrop.current = event.target === dialog.current;
      }}
      onClick={(event) => {
        if (isOnBackdrop.current && event.target === dialog.current) dialog.current?.close();
      }}
    >
      <div className="modal-body">
        <header className="modal-head">
          <h2 id={id}>{title}</h2>
          <button type="button" className="button quiet small" onClick={() => dialog.current?.close()}>Close</button>
        </header>
        {children}
        <Notices inDialog />
      </div>
    </dialog>
  );
}
