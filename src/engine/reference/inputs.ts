/** Reading a call's tensors, with an error that says what is missing or of the wrong size: callers build them by hand. */
import { assert } from '../../base/errors';
import type { ReferenceCall } from './op';

export function inputOf(call: ReferenceCall, port: number): Float64Array {
  const x = call.inputs[port];
  const size = call.sequences * call.tokens * call.attrs.inCols;
  assert(x && x.length === size, `reference: expected ${size} elements at port ${port}, got ${x?.length ?? 'none'}`);
  return x;
}

export function paramOf(call: ReferenceCall, role: string): Float64Array {
  const p = call.params[role];
  assert(p, `reference: expected a parameter in role ${role}`);
  return p;
}

/** [N] whole numbers, `what` naming them. */
export function idsOf(call: ReferenceCall, what: 'ids' | 'targets'): ArrayLike<number> {
  const ids = call[what];
  const rows = call.sequences * call.tokens;
  assert(ids && ids.length === rows, `reference: expected ${rows} ${what}, got ${ids?.length ?? 'none'}`);
  return ids;
}
