/** A chart's table twin: the same numbers in rows, copied as CSV. */
import { useState } from 'react';
import { copyText } from '../panels/clipboard';
import { useActions } from '../workbench';

export interface CopyTableProps {
  readonly caption: string;
  readonly columns: readonly string[];
  /** Columns of words, beside the first; the others are figures. */
  readonly words?: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** RFC 4180: quotes around every field that needs them. */
export function csv(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const field = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return [columns, ...rows].map((row) => row.map(field).join(',')).join('\r\n');
}

export function CopyTable({ caption, columns, words = [], rows }: CopyTableProps) {
  const actions = useActions();
  const [copied, setCopied] = useState(false);
  const copy = (): void => {
    copyText(csv(columns, rows)).then(() => setCopied(true), (thrown: unknown) => {
      setCopied(false);
      actions.fault(thrown);
    });
  };
  return (
    <div className="dock-table" tabIndex={0} role="region" aria-label={caption}>
      <button type="button" className="button" onClick={copy}>{copied ? 'Copied' : 'Copy as CSV'}</button>
      <table>
        <caption>{caption}</caption>
        <thead><tr>{columns.map((c) => <th key={c} scope="col" className={words.includes(c) ? 'words' : undefined}>{c}</th>)}</tr></thead>
        <tbody>
          {rows.map((row, r) => (
            <tr key={r}>
              {row.map((cell, i) => (i === 0 ? <th key={i} scope="row">{cell}</th> : <td key={i} className={words.includes(columns[i] ?? '') ? 'words' : undefined}>{cell}</td>))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
