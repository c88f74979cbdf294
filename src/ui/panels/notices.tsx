/** Notices: code, what happened, what to do. Errors stay until dismissed; a plain word of success goes by itself. */
import { useEffect } from 'react';
import type { Notice } from '../../state';
import { useActions, useDocument, useFacts } from '../workbench';
import { CopyButton } from './copy-button';

const GOES_AFTER_MS = 6000;
/** Time to take back what was deleted. */
const UNDO_GOES_AFTER_MS = 10_000;

function NoticeCard({ notice }: { readonly notice: Notice }) {
  const { dismiss, undoNotice } = useActions();
  // Only the last step can be taken back from here.
  const canUndo = useDocument((d) => notice.undoes !== undefined && notice.undoes === d.label);
  const passing = notice.kind === 'info' && notice.name === '';
  const afterMs = notice.undoes === undefined ? GOES_AFTER_MS : UNDO_GOES_AFTER_MS;
  useEffect(() => {
    if (!passing) return;
    const timer = setTimeout(() => dismiss(notice.id), afterMs);
    return () => clearTimeout(timer);
  }, [passing, afterMs, notice.id, dismiss]);
  return (
    <div className={`notice notice-${notice.kind}`} role={notice.kind === 'error' ? 'alert' : 'status'}>
      <div className="notice-text">
        <p>{notice.name ? <strong className={notice.kind}>{notice.name} </strong> : null}{notice.message}</p>
        {notice.hint ? <p className="muted">{notice.hint}</p> : null}
      </div>
      <div className="row">
        {canUndo ? <button type="button" className="button small" onClick={() => undoNotice(notice.id)}>Undo</button> : null}
        {notice.kind === 'info' ? null : <CopyButton className="button quiet small" label="Copy" text={() => `${notice.name}: ${notice.message} ${notice.hint}`.trim()} />}
        <button type="button" className="button quiet small" onClick={() => dismiss(notice.id)}>Dismiss</button>
      </div>
    </div>
  );
}

/** The newest few; the log holds them all. */
const SHOWN = 3;

export function Notices() {
  const notices = useFacts((f) => f.notices);
  const { dismiss } = useActions();
  const hidden = Math.max(0, notices.length - SHOWN);
  return (
    <div className="notices">
      {notices.length > 1 ? (
        <p className="notices-all small">
          {hidden > 0 ? <span>{hidden} more in the log</span> : null}
          <button type="button" className="button small" onClick={() => notices.forEach((notice) => dismiss(notice.id))}>Dismiss all</button>
        </p>
      ) : null}
      {notices.slice(-SHOWN).map((notice) => <NoticeCard key={notice.id} notice={notice} />)}
    </div>
  );
}
