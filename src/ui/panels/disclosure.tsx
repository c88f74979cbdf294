/** A button that opens a small panel below itself: chips and menus of the top bar. Esc and a press elsewhere close it; focus returns. */
import { useEffect, useId, useRef, useState, type ReactNode } from 'react';

export interface DisclosureProps {
  readonly className?: string;
  /** What the button shows, and the name it has if that is not its text. */
  readonly button: ReactNode;
  readonly label?: string;
  readonly title?: string;
  readonly align?: 'left' | 'right';
  readonly children: (close: () => void) => ReactNode;
}

export function Disclosure({ className = 'button quiet', button, label, title, align = 'right', children }: DisclosureProps) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const id = useId();
  const close = (): void => {
    setOpen(false);
    opener.current?.focus();
  };
  useEffect(() => {
    if (!open) return;
    const outside = (event: PointerEvent): void => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) setOpen(false);
    };
    document.addEventListener('pointerdown', outside);
    return () => document.removeEventListener('pointerdown', outside);
  }, [open]);
  return (
    <div
      ref={box}
      className="disclosure"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !open) return;
        event.stopPropagation();
        close();
      }}
      onBlur={(event) => {
        if (event.relatedTarget instanceof Node && !event.currentTarget.contains(event.relatedTarget)) setOpen(false);
      }}
    >
      <button ref={opener} type="button" className={className} aria-expanded={open} aria-controls={open ? id : undefined} aria-label={label} title={title} onClick={() => setOpen(!open)}>
        {button}
      </button>
      {open ? <div id={id} className={`popover popover-${align}`}>{children(close)}</div> : null}
    </div>
  );
}
