import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../artifacts/', import.meta.url));

/** Where a picture goes that people may look at after the test. */
export function artifact(name) {
  mkdirSync(FOLDER, { recursive: true });
  return FOLDER + name;
}
