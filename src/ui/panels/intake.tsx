/**
 * Files by drop (the whole window) or by choice: a model in any order and in several goes, an allocation, a text. What a
 * model still lacks is shown until it is complete; handles of a drop are taken at once, folders read until empty.
 */
import { createContext, useContext, useEffect, useMemo, useState, type ReactNode } from 'react';
import { useStore } from 'zustand';
import { useWorkbench } from '../workbench';
import { createIntakeQueue, type Collected, type IntakeQueue, type IntakeState } from './intake-queue';

interface IntakeApi extends IntakeState, Pick<IntakeQueue, 'open' | 'forget'> {
  take(files: readonly File[]): Promise<void>;
}

const IntakeContext = createContext<IntakeApi | null>(null);

export function useIntake(): IntakeApi {
  const api = useContext(IntakeContext);
  if (api === null) throw new Error('useIntake: expected an IntakeProvider above, got none');
  return api;
}

async function readEntry(entry: FileSystemEntry): Promise<File[]> {
  if (entry.isFile) return [await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))];
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const found: File[] = [];
  // readEntries gives at most 100 at a time: until it gives none.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return found;
    for (const inner of some) found.push(...(await readEntry(inner)));
  }
}

/** Must be called inside the drop event: afterwards the handles are gone. */
async function readDrop(transfer: DataTransfer): Promise<Collected> {
  const entries = [...transfer.items].filter((item) => item.kind === 'file').map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  const files: File[] = [];
  let folder: string | null = null;
  for (const { entry, file } of entries) {
    if (entry?.isDirectory) folder = entry.name;
    if (entry) files.push(...(await readEntry(entry)));
    else if (file) files.push(file);
  }
  return { files, folder };
}

export function IntakeProvider({ children }: { readonly children: ReactNode }) {
  const { actions, facts } = useWorkbench();
  const [queue] = useState(() => createIntakeQueue({ actions, facts }));
  const state = useStore(queue.store);
  const [dragging, setDragging] = useState(false);
  const api = useMemo((): IntakeApi => ({
    ...state,
    take: (files) => queue.take(() => ({ files, folder: null })),
    open: () => queue.open(),
    forget: () => queue.forget(),
  }), [queue, state]);

  useEffect(() => {
    const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;
    let depth = 0;
    const enter = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      depth += 1;
      setDragging(true);
    };
    const over = (event: DragEvent): void => {
      if (hasFiles(event)) event.preventDefault();
    };
    const leave = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      depth = Math.max(0, depth - 1);
      if (depth === 0) setDragging(false);
    };
    const drop = (event: DragEvent): void => {
      depth = 0;
      setDragging(false);
      if (!event.dataTransfer || !hasFiles(event)) return;
      event.preventDefault();
      const { dataTransfer } = event;
      void queue.take(() => readDrop(dataTransfer));
    };
    window.addEventListener('dragenter', enter);
    window.addEventListener('dragover', over);
    window.addEventListener('dragleave', leave);
    window.addEventListener('drop', drop);
    return () => {
      window.removeEventListener('dragenter', enter);
      window.removeEventListener('dragover', over);
      window.removeEventListener('dragleave', leave);
      window.removeEventListener('drop', drop);
    };
  }, [queue]);

  return (
    <IntakeContext value={api}>
      {children}
      {dragging ? <div className="drop-veil"><p>Drop a model (config.json, model.safetensors, tokenizer.json or their folder), an allocation.json, or a .txt text</p></div> : null}
    </IntakeContext>
  );
}
