/** A seed as text: taken on Enter or on leaving; what is no seed stays, marked and explained, until it is corrected or given up. */
import { useId, useState } from 'react';
import { seedOf } from './seed-text';

export interface SeedFieldProps {
  readonly label: string;
  readonly value: number;
  /** Id of what says what it is for. */
  readonly describedBy: string;
  onSeed(seed: number): void;
}

export function SeedField({ label, value, describedBy, onSeed }: SeedFieldProps) {
  const id = useId();
  const [draft, setDraft] = useState<string | null>(null);
  const isInvalid = draft !== null && seedOf(draft) === null;
  const take = (): void => {
    const seed = draft === null ? null : seedOf(draft);
    if (seed === null) return;
    if (seed !== value) onSeed(seed);
    setDraft(null);
  };
  return (
    <>
      <label className="check">
        {label}
        <input
          className="input number switch-number" inputMode="numeric" autoComplete="off" value={draft ?? String(value)} aria-invalid={isInvalid} aria-describedby={isInvalid ? `${id} ${describedBy}` : describedBy}
          onChange={(event) => setDraft(event.target.value)} onBlur={take}
          onKeyDown={(event) => {
            if (event.key === 'Enter') take();
            if (event.key !== 'Escape' || draft === null) return;
            setDraft(null);
            event.stopPropagation();
          }}
        />
      </label>
      <p id={id} className="small error" aria-live="polite">{isInvalid ? `A whole number from 0 to 4294967295; it is still ${value}. Esc brings that back.` : ''}</p>
    </>
  );
}
