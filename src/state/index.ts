/** The page's state: three stores and the actions over them. */
export * from './actions';
export * from './compare';
export type { Stores } from './context';
export * from './document';
export * from './facts';
export * from './kept-documents';
export type { StoredExample } from './open-actions';
export * from './fills';
export * from './memory';
export type { Results } from './results';
export * from './selectors';
export * from './shown';
export * from './view';
export * from './words';
