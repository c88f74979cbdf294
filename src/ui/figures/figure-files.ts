/**
 * Every file that the figures make: what it is called, how it is made, what is said of it. The PDF writer is loaded when
 * the first PDF is asked for, so that the page starts no slower.
 */
import { FIGURE_NAMES, figureName, figureOf, fileOf, type Figure } from './figure-of';
import type { FigureInputs, FigureKind, FigureOptions } from './figure-types';
import { latexTable } from './latex-table';
import { pgfplotsFrontier } from './pgfplots';
import { PIXELS_PER_INCH, pngOf } from './png';

export interface MadeFile {
  readonly fileName: string;
  readonly content: Blob;
  /** What the reader should know of it; null where it holds everything. */
  readonly remark: string | null;
}

export interface FigureFile {
  /** On its button. */
  readonly label: string;
  make(inputs: FigureInputs, options: FigureOptions): Promise<MadeFile>;
}

export interface FigureFiles {
  readonly id: string;
  readonly name: string;
  readonly files: readonly FigureFile[];
  /** Why there is nothing to save; null where there is. */
  missing(inputs: FigureInputs): string | null;
}

const textFile = (fileName: string, text: string, type: string): MadeFile => ({ fileName, content: new Blob([text], { type }), remark: null });

function drawn(kind: FigureKind, inputs: FigureInputs, options: FigureOptions): Figure {
  // Each kind has its own input; the compiler cannot see that both come from one key.
  const make = <K extends FigureKind>(of: K): Figure => figureOf(of, inputs[of], options);
  return make(kind);
}

const png = (kind: FigureKind, label: string, suffix: string, scale: number): FigureFile => ({
  label,
  async make(inputs, options) {
    const figure = drawn(kind, inputs, options);
    return { fileName: fileOf(figure, `${suffix}png`), content: await pngOf(figure.svg, scale), remark: null };
  },
});

const picturesOf = (kind: FigureKind): readonly FigureFile[] => [
  {
    label: 'SVG',
    make(inputs, options) {
      const figure = drawn(kind, inputs, options);
      return Promise.resolve(textFile(figure.fileName, figure.svg, 'image/svg+xml'));
    },
  },
  png(kind, 'PNG', '2x.', 2),
  png(kind, 'PNG 300 dpi', '300dpi.', 300 / PIXELS_PER_INCH),
  {
    label: 'PDF',
    async make(inputs, options) {
      const figure = drawn(kind, inputs, options);
      const [{ pdfOf }, { fetchFont }] = await Promise.all([import('./pdf'), import('./pdf-fonts')]);
      const { bytes, missing } = await pdfOf(figure, fetchFont);
      return { fileName: fileOf(figure, 'pdf'), content: new Blob([bytes], { type: 'application/pdf' }), remark: missing.length === 0 ? null : `its font lacks ${missing.join(' ')}, shown as \ufffd` };
    },
  },
];

const NOTHING_MEASURED = 'Nothing is measured yet.';

export const FIGURE_ROWS: readonly FigureFiles[] = [
  { id: 'heatmap', name: FIGURE_NAMES.heatmap, files: picturesOf('heatmap'), missing: () => null },
  {
    id: 'frontier', name: FIGURE_NAMES.frontier, missing: ({ frontier }) => (frontier.plans.length === 0 ? 'No plan has a cost.' : null),
    files: [...picturesOf('frontier'), {
      label: 'TikZ',
      make: (inputs, options) => Promise.resolve(textFile(figureName(inputs.frontier.source, `frontier.${options.width}.tex`), pgfplotsFrontier(inputs.frontier, options), 'text/x-tex')),
    }],
  },
  { id: 'scatter', name: FIGURE_NAMES.scatter, files: picturesOf('scatter'), missing: ({ scatter }) => (scatter.points.length === 0 ? NOTHING_MEASURED : null) },
  {
    id: 'plans', name: 'Table of plans', missing: ({ frontier }) => (frontier.plans.length === 0 ? 'No plan has a cost.' : null),
    files: [{
      label: 'LaTeX',
      make: (inputs) => Promise.resolve(textFile(figureName(inputs.frontier.source, 'plans.tex'), latexTable(inputs.frontier), 'text/x-tex')),
    }],
  },
];
