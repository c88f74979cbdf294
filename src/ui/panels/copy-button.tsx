/** Copies a text and says so; where the browser refuses the clipboard it says that. */
import { useState } from 'react';

export interface CopyButtonProps {
  readonly text: () => string;
  readonly label: string;
  readonly className?: string;
  /** Id of what says of what, where the label alone does not. */
  readonly describedBy?: string;
}

export function CopyButton({ text, label, className = 'button small', describedBy }: CopyButtonProps) {
  const [said, setSaid] = useState('');
  const copy = (): void => {
    // Absent on insecure pages, whatever the types say.
    const clipboard = navigator.clipboard as Clipboard | undefined;
    const written = clipboard ? clipboard.writeText(text()) : Promise.reject(new Error('no clipboard'));
    written.then(() => setSaid('Copied'), () => setSaid('The browser refused the clipboard')).finally(() => setTimeout(() => setSaid(''), 2500));
  };
  return (
    <button type="button" className={className} aria-describedby={describedBy} onClick={copy}>
      <span aria-live="polite">{said || label}</span>
    </button>
  );
}
