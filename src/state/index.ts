/** The page's state: three stores and the actions over them. */
export * from './actions';
export * from './document';
export * from './facts';
export * from './selectors';
export * from './view';
