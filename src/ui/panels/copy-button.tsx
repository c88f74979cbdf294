/** Copies a text and says so; where the browser refuses the clipboard it says that. */
import { useState } from 'react';
import { copyText } from './clipboard';

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
    copyText(text()).then(() => setSaid('Copied'), () => setSaid('The browser refused the clipboard')).finally(() => setTimeout(() => setSaid(''), 2500));
  };
  return (
    <button type="button" className={className} aria-describedby={describedBy} onClick={copy}>
      <span aria-live="polite">{said || label}</span>
    </button>
  );
}
