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

export function Notices() {
  const notices = useFacts((f) => f.notices);
  return <div className="notices">{notices.map((notice) => <NoticeCard key={notice.id} notice={notice} />)}</div>;
}
