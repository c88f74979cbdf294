/**
 * How components reach the state: one context with the three stores and the actions, and a hook a store. A component
 * re-renders only when what its selector returns changes, so selectors return values the state already holds.
 */
import { createContext, useCallback, useContext, useSyncExternalStore, type ReactNode } from 'react';
import { useStore } from 'zustand';
import type { Plan } from '../allocate/plan';
import { shownNow, type Actions, type DocumentState, type Shown, type Stores, type ViewState } from '../state';

export interface Workbench extends Stores {
  readonly actions: Actions;
}

const WorkbenchContext = createContext<Workbench | null>(null);

export function WorkbenchProvider({ workbench, children }: { readonly workbench: Workbench; readonly children: ReactNode }) {
  return <WorkbenchContext.Provider value={workbench}>{children}</WorkbenchContext.Provider>;
}

export function useWorkbench(): Workbench {
  const workbench = useContext(WorkbenchContext);
  if (workbench === null) throw new Error('useWorkbench: expected a WorkbenchProvider above, got none');
  return workbench;
}

/** The facts, and the results under the document's recipe: changes when either store does. */
export function useFacts<T>(select: (shown: Shown) => T): T {
  const { facts, document } = useWorkbench();
  const subscribe = useCallback((changed: () => void) => {
    const stop = [facts.subscribe(changed), document.subscribe(changed)];
    return () => stop.forEach((one) => one());
  }, [facts, document]);
  return useSyncExternalStore(subscribe, () => select(shownNow({ facts, document })));
}

export function useView<T>(select: (view: ViewState) => T): T {
  return useStore(useWorkbench().view, select);
}

export function useDocument<T>(select: (document: DocumentState) => T): T {
  return useStore(useWorkbench().document, select);
}

export function useActions(): Actions {
  return useWorkbench().actions;
}

/** The committed plan, and the one to draw: the plan under the hand while something is dragged. */
export function usePlans(): { readonly plan: Plan | null; readonly shown: Plan | null } {
  const plan = useDocument((d) => d.plan);
  const preview = useView((v) => v.preview);
  return { plan, shown: preview ?? plan };
}
