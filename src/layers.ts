/**
 * The house as data: which folder may import which, and which npm packages. Arrows run one way (structure.md 1); three
 * colours keep the GPU out of the page and the DOM out of the worker. layers.test.ts holds every import against it.
 */
export type Colour = 'pure' | 'worker' | 'page';

export interface Layer {
  readonly colour: Colour;
  /** Folders it may import besides itself. */
  readonly imports: readonly string[];
  /** npm packages its code (not its tests) may import; `node:` stands for Node's own modules. */
  readonly packages: readonly string[];
}

const PURE = ['base', 'numerics', 'graph', 'models', 'allocate', 'bridge'] as const;

/** By folder below src; `ui/charts` is a layer of its own. */
export const LAYERS: Readonly<Record<string, Layer>> = {
  base: { colour: 'pure', imports: [], packages: [] },
  numerics: { colour: 'pure', imports: ['base'], packages: [] },
  graph: { colour: 'pure', imports: ['base', 'numerics'], packages: [] },
  models: { colour: 'pure', imports: ['base', 'graph'], packages: [] },
  allocate: { colour: 'pure', imports: ['base', 'numerics', 'graph'], packages: ['zod'] },
  bridge: { colour: 'pure', imports: ['base', 'numerics', 'graph', 'allocate'], packages: ['comlink'] },

  gpu: { colour: 'worker', imports: ['base'], packages: ['webgpu', 'node:'] },
  engine: { colour: 'worker', imports: ['base', 'numerics', 'graph', 'gpu'], packages: [] },
  data: { colour: 'worker', imports: ['base'], packages: ['@huggingface/tokenizers', 'zod'] },
  probe: { colour: 'worker', imports: ['base', 'numerics', 'graph', 'engine'], packages: [] },
  train: { colour: 'worker', imports: ['base', 'numerics', 'graph', 'engine'], packages: [] },
  study: { colour: 'worker', imports: ['base', 'graph', 'allocate', 'probe', 'train'], packages: [] },
  // The two composition roots.
  worker: { colour: 'worker', imports: [...PURE, 'gpu', 'engine', 'data', 'probe', 'train', 'study'], packages: ['comlink', 'idb'] },
  cli: { colour: 'worker', imports: [...PURE, 'gpu', 'engine', 'data', 'probe', 'train', 'study', 'worker'], packages: ['node:'] },

  state: { colour: 'page', imports: [...PURE], packages: ['zustand', 'zundo', 'idb', 'zod'] },
  'ui/charts': { colour: 'page', imports: ['base'], packages: ['react', 'd3'] },
  ui: { colour: 'page', imports: ['base', 'numerics', 'graph', 'allocate', 'state', 'ui/charts'], packages: ['react', 'zustand', 'pdfkit', '@fontsource/arimo'] },
  app: { colour: 'page', imports: [...PURE, 'state', 'ui', 'ui/charts'], packages: ['react', 'react-dom'] },
};

/** The one folder whose code may name the files of /shaders: through src/gpu/shaders.ts. */
export const SHADER_FILE = 'gpu/shaders.ts';

/** Page and worker meet at one address: `new URL('../worker/...', import.meta.url)` in one file of the bridge. */
export const WORKER_FACTORY_FOLDER = 'bridge';

/** Layer of a file path below src (`ui/charts/axis.tsx` -> `ui/charts`); null for files of src itself and unknown folders. */
export function layerOf(path: string): string | null {
  const [first = '', second = ''] = path.split('/');
  const nested = `${first}/${second}`;
  if (Object.hasOwn(LAYERS, nested) && path.startsWith(`${nested}/`)) return nested;
  return path.includes('/') && Object.hasOwn(LAYERS, first) ? first : null;
}

/**
 * Why `from` may not import `to`, or null when it may. A test is a small composition root: besides its own layer's
 * imports it may use everything of its colour and everything pure; a pure test everything pure, and data and gpu (to read
 * goldens and to hold the CPU oracle against the device).
 */
export function refusal(from: string, to: string, isTest: boolean): string | null {
  const [source, target] = [LAYERS[from], LAYERS[to]];
  if (source === undefined || target === undefined) return `${source === undefined ? from : to} is not in the table of src/layers.ts`;
  if (from === to || source.imports.includes(to)) return null;
  if (isTest && (target.colour === source.colour || target.colour === 'pure')) return null;
  if (isTest && source.colour === 'pure' && (to === 'data' || to === 'gpu')) return null;
  return `${from} may import ${source.imports.join(', ') || 'nothing'}, not ${to}`;
}
