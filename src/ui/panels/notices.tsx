/**
 * Notices: code, what happened, what to do. Errors stay until dismissed; a plain word of success goes by itself, but not
 * while it is pointed at or has the focus. They stand on the page, or in the dialog that covers it. Their live regions are
 * there before they are, or a screen reader would not say them.
 */
import { useEffect, useRef, type FocusEvent } from 'react';
import type { Notice } from '../../state';
import { useActions, useDocument, useFacts, useView } from '../workbench';
import { CopyButton } from './copy-button';
import { countdown, type Countdown } from './countdown';
import { focusAfter, noticesIn } from './notice-places';

const GOES_AFTER_MS = 6000;
/** Time to take back what was deleted. */
const UNDO_GOES_AFTER_MS = 10_000;

interface CardProps {
  readonly notice: Notice;
  /** Called before it goes at a press, so that the focus does not go with it. */
  onLeave(id: number): void;
}

function NoticeCard({ notice, onLeave }: CardProps) {
  const { dismiss, undoNotice } = useActions();
  // Only the last step can be taken back from here.
  const canUndo = useDocument((d) => notice.undoes !== undefined && notice.undoes === d.label);
  const passing = notice.kind === 'info' && notice.name === '';
  const afterMs = notice.undoes === undefined ? GOES_AFTER_MS : UNDO_GOES_AFTER_MS;
  const time = useRef<Countdown | null>(null);
  useEffect(() => {
    if (!passing) return;
    const running = countdown(afterMs, () => dismiss(notice.id));
    time.current = running;
    return () => running.stop();
  }, [passing, afterMs, notice.id, dismiss]);
  const leave = (act: (id: number) => void): void => {
    onLeave(notice.id);
    act(notice.id);
  };
  const isWithin = (event: FocusEvent<HTMLElement>): boolean => event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget);
  return (
    <div
      className={`notice notice-${notice.kind}`} data-notice={notice.id}
      onPointerEnter={() => time.current?.hold()} onPointerLeave={() => time.current?.release()}
      onFocus={(event) => isWithin(event) || time.current?.hold()} onBlur={(event) => isWithin(event) || time.current?.release()}
    >
      <div className="notice-text">
        <p>{notice.name ? <strong className={notice.kind}>{notice.name} </strong> : null}{notice.message}</p>
        {notice.hint ? <p className="muted">{notice.hint}</p> : null}
      </div>
      <div className="row">
        {canUndo ? <button type="button" className="button small" onClick={() => leave(undoNotice)}>Undo</button> : null}
        {notice.kind === 'info' ? null : <CopyButton className="button quiet small" label="Copy" text={() => `${notice.name}: ${notice.message} ${notice.hint}`.trim()} />}
        <button type="button" className="button quiet small" data-dismiss="" onClick={() => leave(dismiss)}>Dismiss</button>
      </div>
    </div>
  );
}

/** The newest few; the log holds them all. */
const SHOWN = 3;

export interface NoticesProps {
  /** In a dialog: those that came since it opened. */
  readonly inDialog?: boolean;
}

export function Notices({ inDialog = false }: NoticesProps) {
  const all = useFacts((f) => f.notices);
  const from = useView((v) => v.noticesFrom);
  const { dismiss } = useActions();
  const box = useRef<HTMLDivElement>(null);
  /** Who had the focus before it came to the notices. */
  const cameFrom = useRef<HTMLElement | null>(null);
  const notices = noticesIn(inDialog ? 'dialog' : 'page', all, from);
  const shown = notices.slice(-SHOWN);
  const hidden = notices.length - shown.length;
  const focusBack = (): void => {
    if (cameFrom.current?.isConnected === true) cameFrom.current.focus();
    // In a dialog there is always its own Close.
    if (box.current?.contains(document.activeElement) === true) box.current.closest('dialog')?.querySelector('button')?.focus();
  };
  const onLeave = (id: number): void => {
    if (box.current?.contains(document.activeElement) !== true) return;
    const cards = [...box.current.querySelectorAll<HTMLElement>('[data-notice]')];
    const next = focusAfter(cards.findIndex((card) => card.dataset['notice'] === String(id)), cards.length);
    if (next === null) focusBack();
    else cards[next]?.querySelector<HTMLElement>('[data-dismiss]')?.focus();
  };
  const dismissAll = (): void => {
    focusBack();
    notices.forEach((notice) => dismiss(notice.id));
  };
  const cards = (of: readonly Notice[]) => of.map((notice) => <NoticeCard key={notice.id} notice={notice} onLeave={onLeave} />);
  return (
    <div
      ref={box} className={inDialog ? 'notices notices-dialog' : 'notices'}
      onFocus={({ currentTarget, relatedTarget }) => {
        if (relatedTarget instanceof HTMLElement && !currentTarget.contains(relatedTarget)) cameFrom.current = relatedTarget;
      }}
    >
      {notices.length > 1 ? (
        <p className="notices-all small">
          {hidden > 0 ? <span>{hidden} more in the log</span> : null}
          <button type="button" className="button small" onClick={dismissAll}>Dismiss all</button>
        </p>
      ) : null}
      {/* The status of a dialog is what its own form says. */}
      <div className="notices-live" role={inDialog ? undefined : 'status'} aria-live="polite" aria-atomic="false">{cards(shown.filter(({ kind }) => kind !== 'error'))}</div>
      <div className="notices-live" role="alert" aria-atomic="false">{cards(shown.filter(({ kind }) => kind === 'error'))}</div>
    </div>
  );
}
