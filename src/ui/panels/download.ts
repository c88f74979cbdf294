/** Hands a text to the browser as a file. */
export function download(fileName: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  // The click only starts the download; the address must outlive it.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
