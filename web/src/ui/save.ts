// Has the browser save a file.
export function save(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // After the browser has read it.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
