/**
 * What a paper figure is made of, as data: the same cells, plans and points that the page draws, with the words around
 * them and the facts a reader needs to find the run again. Angles are degrees, costs shares or the unit they name.
 */
import type { CostAxis } from '../charts/cost-axis';
import type { ChartPlan, LinePoint } from '../charts/frontier-scale';
import type { HeatCell } from '../charts/heatmap';
import type { TellingPair } from '../charts/pairs';
import type { ColourMap } from '../charts/scales';
import type { ScatterPoint } from '../charts/scatter-points';

/** A text column, both columns, and a slide of 16 : 9. */
export type FigureWidth = 'column' | 'page' | 'slide';

export interface FigureOptions {
  readonly width: FigureWidth;
  readonly colourMap: ColourMap;
  readonly background: 'white' | 'none';
}

/** Where the figures on the picture come from: written into every file. */
export interface FigureSource {
  readonly model: string;
  readonly modelSha256: string;
  /** In words, switches included: "NVFP4, TE defaults". */
  readonly recipe: string;
  readonly plan: string;
  readonly planHash: string | null;
  /** Of allocation.json: two files with one manifest are comparable. */
  readonly manifest: string | null;
  /** The device that measured, null where nothing was. */
  readonly device: string | null;
  /** Text, seed and size of the calibration data, in words. */
  readonly data: string;
  /** ISO 8601 of the measurement; null where there is none. */
  readonly measuredAt: string | null;
  /** What a reader must be told on the picture itself; null for a measurement of one's own. */
  readonly note: string | null;
}

/** A cell as the heatmap draws it; what happens on the page just now (ghost, dimming, a run) is not part of a figure. */
export type FigureCell = Pick<HeatCell, 'id' | 'row' | 'column' | 'wide' | 'angleDeg' | 'mark' | 'locked' | 'belowNoise' | 'stored'> & {
  readonly state: 'value' | 'missing' | 'failed';
  /** The solver's choice flips within noise (ux.md 3.1). */
  readonly unstable: boolean;
  /** The plan has it in a format that was not measured: `??` stands in the place of its figure. */
  readonly unpredicted: boolean;
};

export interface FigureRow {
  readonly group: string;
  /** "forward" and "fp"; null where a group has one part only. */
  readonly part: { readonly long: string; readonly short: string } | null;
}

export interface HeatInput {
  readonly source: FigureSource;
  /** Of the ramp, without its unit: "turn of the whole gradient if only that cell is NVFP4". */
  readonly rampTitle: string;
  readonly rows: readonly FigureRow[];
  /** Rows in each block, from the top; a fixed row is a block of one after them. */
  readonly groups: readonly number[];
  /** Layers. */
  readonly columns: number;
  readonly cells: readonly FigureCell[];
  /** A row that the recipe never touches, and what stands in it. */
  readonly fixed: { readonly group: string; readonly text: string } | null;
  /** What a mark's letter stands for: `B` is BF16, `4` NVFP4. */
  readonly formats: Readonly<Partial<Record<HeatCell['mark'], string>>>;
  /** Degrees; null while not measured. */
  readonly floors: { readonly forwardDeg: number | null; readonly backwardDeg: number | null };
  /** What the hatch says: "below noise: raw angle under 2 x floor". */
  readonly hatchWords: string;
  /** What a negative cell says. */
  readonly negativeWords: string;
}

export interface FigurePlan extends ChartPlan {
  /** Standard error of the measured angle over batches, degrees; null with one batch or none. */
  readonly seDeg: number | null;
  /** Batches of the joint measurement. */
  readonly batches: number | null;
}

export interface FrontierInput {
  readonly source: FigureSource;
  readonly axis: CostAxis;
  /** Best plan at each budget, cheapest first. */
  readonly frontier: readonly LinePoint[];
  readonly plans: readonly FigurePlan[];
}

export interface ScatterInput {
  readonly source: FigureSource;
  readonly points: readonly ScatterPoint[];
  /** Joined and numbered, the most telling first. */
  readonly pairs: readonly TellingPair[];
}

export interface FigureInputs {
  readonly heatmap: HeatInput;
  readonly frontier: FrontierInput;
  readonly scatter: ScatterInput;
}
export type FigureKind = keyof FigureInputs;
