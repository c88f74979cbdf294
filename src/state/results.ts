/**
 * Results: all that was measured of one recipe under one set of switches on one text, as one immutable value; pure functions
 * say what each message of a run makes of it. Two devices meet here: the stored example (or an earlier device) and this
 * one. Angles of the two differ in their last digits, so what stands side by side must be known to stand on one device,
 * or be labelled as mixed (method.md 7; ux.md 6.6).
 */
import type { Ledger } from '../graph/ledger';
import type { JointResult, NoiseFloor, ProbeRecord, Provenance, SiteResult, SiteScores } from '../graph/probe-record';
import type { SiteId } from '../graph/policy';

/** What this device said of itself and of its reference, in the newest run. */
export interface Here {
  readonly provenance: Provenance;
  readonly floor: NoiseFloor | null;
  readonly referenceLoss: readonly number[];
}

export interface Results {
  readonly sites: Readonly<Record<SiteId, SiteResult>>;
  /** The sites measured on this device; the others are stored ones. */
  readonly measuredHere: ReadonlySet<SiteId>;
  /** What other methods would say, by site: this device's in place of stored ones. */
  readonly scores: Readonly<Record<SiteId, SiteScores>>;
  /** By site: everything low except it. Show them through `leaveOneOutShown`. */
  readonly leaveOneOut: Readonly<Record<SiteId, SiteResult>>;
  readonly leaveOneOutHere: ReadonlySet<SiteId>;
  /** Joint results by plan hash; `jointHere` are those measured on this device. Show them through `jointsShown`. */
  readonly joint: Readonly<Record<string, JointResult>>;
  readonly jointHere: ReadonlySet<string>;
  /**
   * Floor, losses and origin of the cells shown. Every clean angle has its own device's floor taken out for good; only
   * the floor that a prediction adds once is a choice. It stays the stored one while no cell was measured here, and
   * becomes this device's with the first cell: from then on predictions are held against joints of this device.
   */
  readonly floor: NoiseFloor | null;
  readonly referenceLoss: readonly number[];
  readonly provenance: Provenance | null;
  /** Where the stored cells were measured; null when there are none. */
  readonly storedProvenance: Provenance | null;
  /** Null until a run has started here. */
  readonly here: Here | null;
  /** Bytes that the newest probe here really held on the device. */
  readonly allocated: Ledger | null;
}

export const NO_RESULTS: Results = {
  sites: {}, measuredHere: new Set(), scores: {}, leaveOneOut: {}, leaveOneOutHere: new Set(), joint: {}, jointHere: new Set(), floor: null, referenceLoss: [],
  provenance: null, storedProvenance: null, here: null, allocated: null,
};

export function storedResults({ sites, scores = {}, leaveOneOut = {}, joint, floor, referenceLoss, provenance }: ProbeRecord): Results {
  return { ...NO_RESULTS, sites, scores, leaveOneOut, joint, floor, referenceLoss, provenance, storedProvenance: provenance };
}

/** What results of another recipe on the same text already say: the reference is the same, so its floor and losses are. */
export function referenceOnly({ floor, referenceLoss, provenance }: Results): Results {
  return { ...NO_RESULTS, floor, referenceLoss, provenance };
}

/** Cells are shown, and none of them is of this device. */
function showsOnlyStored({ sites, measuredHere }: Results): boolean {
  return measuredHere.size === 0 && Object.keys(sites).length > 0;
}

/** This device's own figures as those of the cells shown. */
function shown(here: Here | null): Partial<Results> {
  return here === null || here.floor === null ? {} : { floor: here.floor, referenceLoss: here.referenceLoss, provenance: here.provenance };
}

/** A run began. If it runs on another device than the last one, what was measured so far counts as stored from now on. */
export function runStarted(results: Results, provenance: Provenance): Partial<Results> {
  const { here, measuredHere, leaveOneOutHere, jointHere } = results;
  const isOtherDevice = here !== null && here.provenance.device !== provenance.device;
  if (!isOtherDevice) return { here: { floor: here?.floor ?? null, referenceLoss: here?.referenceLoss ?? [], provenance } };
  const fresh: Here = { provenance, floor: null, referenceLoss: [] };
  if (measuredHere.size + leaveOneOutHere.size + jointHere.size === 0) return { here: fresh };
  const joint = jointsShown(results);
  const before = originOf(results, joint);
  return {
    here: fresh, measuredHere: new Set(), leaveOneOutHere: new Set(), jointHere: new Set(), joint, leaveOneOut: leaveOneOutShown(results),
    provenance: before, storedProvenance: before,
  };
}

export function floorMeasured(results: Results, floor: NoiseFloor, referenceLoss: readonly number[]): Partial<Results> {
  if (results.here === null) return {};
  const here: Here = { ...results.here, floor, referenceLoss };
  return { here, ...(showsOnlyStored(results) ? {} : shown(here)) };
}

/** One cell of this device takes the place of what was there; the others stay. */
export function siteMeasured({ sites, measuredHere, here }: Results, site: SiteId, result: SiteResult): Partial<Results> {
  return { sites: { ...sites, [site]: result }, measuredHere: new Set([...measuredHere, site]), ...shown(here) };
}

/** Scores of this device take the place of those that were there. */
export function scoresMeasured({ scores }: Results, measured: Results['scores']): Partial<Results> {
  return { scores: { ...scores, ...measured } };
}

export function jointMeasured({ joint, jointHere }: Results, result: JointResult): Partial<Results> {
  return { joint: { ...joint, [result.planHash]: result }, jointHere: new Set([...jointHere, result.planHash]) };
}

/** One cell left out of everything low, on this device. */
export function leaveOneOutMeasured({ leaveOneOut, leaveOneOutHere }: Results, site: SiteId, result: SiteResult): Partial<Results> {
  return { leaveOneOut: { ...leaveOneOut, [site]: result }, leaveOneOutHere: new Set([...leaveOneOutHere, site]) };
}

type Places = Pick<Results, 'measuredHere' | 'leaveOneOutHere' | 'jointHere'>;
const isNothingHere = ({ measuredHere, leaveOneOutHere, jointHere }: Places): boolean => measuredHere.size + leaveOneOutHere.size + jointHere.size === 0;

/** The joint results that may stand beside the cells: stored ones only while nothing at all was measured here. */
export function jointsShown(results: Places & Pick<Results, 'joint'>): Results['joint'] {
  const { joint, jointHere } = results;
  return isNothingHere(results) ? joint : Object.fromEntries(Object.entries(joint).filter(([hash]) => jointHere.has(hash)));
}

/** The same of the cells left out of everything low: they are read against a joint result. */
export function leaveOneOutShown(results: Places & Pick<Results, 'leaveOneOut'>): Results['leaveOneOut'] {
  const { leaveOneOut, leaveOneOutHere } = results;
  return isNothingHere(results) ? leaveOneOut : Object.fromEntries(Object.entries(leaveOneOut).filter(([id]) => leaveOneOutHere.has(id)));
}

/** Where these cells and joints were measured, null where there are none; of a mixture the device says so, for a file must not claim one device for all. */
export function originOf({ sites, measuredHere, jointHere, provenance, storedProvenance, here }: Results, joint: Results['joint']): Provenance | null {
  const total = Object.keys(sites).length;
  // A floor alone may be another recipe's (referenceOnly): it says nothing of where cells of this one were measured.
  if (total === 0 && Object.keys(joint).length === 0) return null;
  const kept = total - measuredHere.size;
  const isJointHere = Object.keys(joint).some((hash) => jointHere.has(hash));
  if (kept <= 0 || storedProvenance === null || here === null || (measuredHere.size === 0 && !isJointHere)) return provenance;
  const device = measuredHere.size === 0
    ? `mixed: joint measurements on ${here.provenance.device}; all cells, measured earlier, on ${storedProvenance.device}`
    : `mixed: ${measuredHere.size} of ${total} cells on ${here.provenance.device}; the others, measured earlier, on ${storedProvenance.device}`;
  return { ...here.provenance, device };
}
