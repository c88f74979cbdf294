/** What the command line says while it works: lines on stderr, so that stdout stays free for machine output. */
import type { PlainError } from '../base/errors';

export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** An error or warning: its stable name and what happened; then what to do. */
export function sayError({ name, message, hint }: PlainError): void {
  say(`${name}: ${message}`);
  if (hint !== '') say(hint);
}

/** The first few of a list, and how many more there are. */
export function listed(items: readonly string[], most = 12): string {
  return items.length <= most ? items.join(', ') : `${items.slice(0, most).join(', ')} and ${items.length - most} more`;
}
