/** Cells whose decision flips within noise (ux.md 3.1), as far as they are known of the plan shown. */
import { FLIPS_TO_FLAG } from '../allocate/unstable';
import type { SiteId } from '../graph/policy';
import { memo } from './memo';
import type { Shown } from './shown';
import type { UnstableState } from './facts';

const NONE: ReadonlySet<SiteId> = new Set();
const flaggedMemo = memo((unstable: UnstableState): ReadonlySet<SiteId> => new Set([...unstable.flips].filter(([, flips]) => flips >= FLIPS_TO_FLAG).map(([id]) => id)));

/** The unstable cells of the plan in hand; empty while they are not known. */
export function unstableOf({ unstable }: Pick<Shown, 'unstable'>): ReadonlySet<SiteId> {
  return unstable === null ? NONE : flaggedMemo(unstable);
}
