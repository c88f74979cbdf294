/** Token embedding: y[b, t] = table[id] + positions[t], parameters unrounded. */
import { idsOf, paramOf } from './inputs';
import type { ReferenceOp } from './op';
import { roundInPlace } from './rounding';

export const embed: ReferenceOp = {
  fprop: (call) => {
    const { cols } = call.attrs;
    const ids = idsOf(call, 'ids');
    const [table, positions] = [paramOf(call, 'table'), paramOf(call, 'positions')];
    const y = new Float64Array(ids.length * cols);
    for (let n = 0; n < ids.length; n++) {
      const [token, place] = [(ids[n] as number) * cols, (n % call.tokens) * cols];
      for (let j = 0; j < cols; j++) y[n * cols + j] = (table[token + j] as number) + (positions[place + j] as number);
    }
    return roundInPlace(y, call.rounding);
  },
  // dtable[v] = sum of dy over the rows whose id is v; dpositions[t] = sum over sequences of dy[b, t]
  bprop: (call, dy) => {
    const { cols } = call.attrs;
    const ids = idsOf(call, 'ids');
    const table = new Float64Array(paramOf(call, 'table').length);
    const positions = new Float64Array(paramOf(call, 'positions').length);
    for (let n = 0; n < ids.length; n++) {
      const [token, place] = [(ids[n] as number) * cols, (n % call.tokens) * cols];
      for (let j = 0; j < cols; j++) {
        const g = dy[n * cols + j] as number;
        table[token + j] = (table[token + j] as number) + g;
        positions[place + j] = (positions[place + j] as number) + g;
      }
    }
    return { dx: [], dparams: { table, positions } };
  },
};
