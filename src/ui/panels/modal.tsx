/** The native dialog: the browser traps focus, closes on Esc and gives focus back. Mounted means open. */
import { useId, useLayoutEffect, useRef, type ReactNode } from 'react';

export interface ModalProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function Modal({ title, onClose, children }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Closed while it is still in the document, or the browser gives the focus back to nobody.
  useLayoutEffect(() => {
    const node = dialog.current;
    if (node && !node.open) node.showModal();
    return () => node?.close();
  }, []);
  return (
    <dialog
      ref={dialog} className="modal" aria-labelledby={id} onClose={onClose}
      onClick={(event) => {
        // Only the backdrop is the dialog itself; its content is the form's.
        if (event.target === dialog.current) dialog.current?.close();
      }}
    >
      <div className="modal-body">
        <header className="modal-head">
          <h2 id={id}>{title}</h2>
          <button type="button" className="button quiet small" onClick={() => dialog.current?.close()}>Close</button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
