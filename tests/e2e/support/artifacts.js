import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../artifacts/', import.meta.url));

/** The file of a picture for people to look at after the test. */
export function artifact(name) {
  mkdirSync(FOLDER, { recursive: true });
  return FOLDER + name;
}
