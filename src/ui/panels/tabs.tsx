/** Tabs after the ARIA pattern: one tab stop, arrows, Home and End move and select. */
import { useId, useRef, type KeyboardEvent, type ReactNode } from 'react';

export interface TabsProps<T extends string> {
  readonly label: string;
  readonly tabs: readonly { readonly id: T; readonly name: string }[];
  readonly value: T;
  readonly onChange: (id: T) => void;
  /** After the tabs, in the same row. */
  readonly end?: ReactNode;
  /** The chosen tab's panel; null when it is folded away. */
  readonly children: ReactNode;
}

export function Tabs<T extends string>({ label, tabs, value, onChange, end, children }: TabsProps<T>) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = tabs.findIndex((tab) => tab.id === value);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tabs.length - 1 }[event.key];
    const next = to === undefined ? undefined : tabs[(to + tabs.length) % tabs.length];
    if (!next) return;
    event.preventDefault();
    onChange(next.id);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.id}"]`)?.focus();
  };
  return (
    <div className="tabs">
      <div className="tab-row">
        <div ref={list} role="tablist" aria-label={label} className="tab-list" onKeyDown={onKeyDown}>
          {tabs.map((tab) => (
            <button
              key={tab.id} type="button" role="tab" data-tab={tab.id} id={`${id}-${tab.id}`} className="tab"
              aria-selected={tab.id === value} aria-controls={children === null ? undefined : `${id}-panel`} tabIndex={tab.id === value ? 0 : -1}
              onClick={() => onChange(tab.id)}
            >
              {tab.name}
            </button>
          ))}
        </div>
        {end}
      </div>
      {children === null ? null : <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${value}`} className="tab-panel" tabIndex={0}>{children}</div>}
    </div>
  );
}
