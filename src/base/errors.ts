/**
 * Errors a reader can act on. One class, many stable names (E-GPU-14, E-FILE-07, ...): code switches on `name`,
 * people read `message` (what happened: `where: expected X, got Y`) and `hint` (what to do).
 * Errors cross the worker boundary as plain objects, because structured clone of an Error keeps no hint.
 */
export interface PlainError {
  readonly name: string;
  readonly message: string;
  readonly hint: string;
}

export class BendscopeError extends Error implements PlainError {
  override readonly name: string;
  readonly hint: string;

  constructor(name: string, message: string, hint = '') {
    super(message);
    this.name = name;
    this.hint = hint;
  }
}

/** Any thrown value -> the plain object that crosses the worker boundary or is printed by the command line. */
export function toPlainError(thrown: unknown): PlainError {
  if (thrown instanceof BendscopeError) return { name: thrown.name, message: thrown.message, hint: thrown.hint };
  if (thrown instanceof Error) return { name: thrown.name === 'Error' ? 'E-BUG-00' : thrown.name, message: thrown.message, hint: '' };
  if (typeof thrown === 'object' && thrown !== null && 'name' in thrown && 'message' in thrown) {
    const o = thrown as { name: unknown; message: unknown; hint?: unknown };
    return { name: String(o.name), message: String(o.message), hint: typeof o.hint === 'string' ? o.hint : '' };
  }
  return { name: 'E-BUG-00', message: String(thrown), hint: '' };
}

/** Throws E-BUG-01 unless `condition` holds: for invariants of our own code, not for user input. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new BendscopeError('E-BUG-01', message, 'This is a fault of Bendscope; please report it.');
}
