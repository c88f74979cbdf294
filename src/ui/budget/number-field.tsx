/** A number typed in the place of a drag: Enter takes it, Esc and leaving it untouched give it up. */
import { useEffect, useId, useRef, useState } from 'react';

export interface NumberFieldProps {
  readonly className?: string;
  /** With its unit, for a screen reader. */
  readonly label: string;
  /** Behind the number. */
  readonly unit: string;
  readonly value: string;
  readonly disabled?: boolean;
  /** It was opened to be typed into at once, and closes with `onClose`. */
  readonly isOpened?: boolean;
  onText(text: string): void;
  onClose?(): void;
}

export function NumberField({ className = 'budget-field', label, unit, value, disabled = false, isOpened = false, onText, onClose }: NumberFieldProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  /** What is being typed; null: the field shows the plan's own value. */
  const [draft, setDraft] = useState<string | null>(null);
  useEffect(() => {
    const back = document.activeElement;
    if (!isOpened) return;
    input.current?.select();
    // Back to the handle, unless the focus has gone elsewhere by itself.
    return () => {
      if (back instanceof HTMLElement && (document.activeElement === document.body || document.activeElement === null)) back.focus();
    };
  }, [isOpened]);
  const close = (): void => {
    setDraft(null);
    onClose?.();
  };
  const take = (): void => {
    if (draft !== null && draft !== value) onText(draft);
    close();
  };
  return (
    <div className={className}>
      <label htmlFor={id} className="visually-hidden">{label}</label>
      <input ref={input} id={id} inputMode="decimal" autoComplete="off" value={draft ?? value} disabled={disabled} onChange={(event) => setDraft(event.target.value)} onBlur={take}
        onKeyDown={(event) => {
          if (event.key === 'Enter') take();
          else if (event.key === 'Escape') close();
          else return;
          event.stopPropagation();
        }} />
      {unit === '' ? null : <span aria-hidden="true">{unit}</span>}
    </div>
  );
}
