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
