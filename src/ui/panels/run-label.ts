/** What the Run button says: what is still to be measured on this GPU of the recipe shown. */
import { plural, sitesOf, type Shown } from '../../state';

/** "Run on this GPU", "Continue: 12 cells left", "Measure leave one out": the next thing that a press would measure. */
export function runLabel({ graph, recipe, measuredHere, leaveOneOutHere, sites, extra }: Shown): string {
  const all = graph ? sitesOf(graph, recipe) : [];
  const left = all.filter(({ id }) => !measuredHere.has(id)).length;
  if (left > 0) return left < all.length ? `Continue: ${plural(left, 'cell')} left` : 'Run on this GPU';
  const isPersistentLeft = extra.persistent && all.some(({ id }) => sites[id]?.status === 'measured' && sites[id].persistent === undefined);
  const isLeaveOneOutLeft = extra.leaveOneOut && all.some(({ id }) => !leaveOneOutHere.has(id));
  const more = [...(isPersistentLeft ? ['what persists'] : []), ...(isLeaveOneOutLeft ? ['leave one out'] : [])];
  return all.length > 0 && more.length > 0 ? `Measure ${more.join(' and ')}` : all.length > 0 ? 'Run again on this GPU' : 'Run on this GPU';
}
