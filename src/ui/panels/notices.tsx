/** Notices: code, what happened, what to do. Errors stay until dismissed; a plain word of success goes by itself. */
import { useEffect } from 'react';
import type { Notice } from '../../state';
import { useActions, useFacts } from '../workbench';
import { CopyButton } from './copy-button';

const GOES_AFTER_MS = 6000;

export function NoticeCard({ notice }: { readonly notice: Notice }) {
  const { dismiss } = useActions();
  const passing = notice.kind === 'info' && notice.name === '';
  useEffect(() => {
    if (!passing) return;
    const timer = setTimeout(() => dismiss(notice.id), GOES_AFTER_MS);
    return () => clearTimeout(timer);
  }, [passing, notice.id, dismiss]);
  return (
    <div className={`notice notice-${notice.kind}`} role={notice.kind === 'error' ? 'alert' : 'status'}>
      <div className="notice-text">
        <p>{notice.name ? <strong className={notice.kind}>{notice.name} </strong> : null}{notice.message}</p>
        {notice.hint ? <p className="muted">{notice.hint}</p> : null}
      </div>
      <div className="row">
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
