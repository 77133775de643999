import type {Json, JsonObject} from '../api/types.ts';
import {isObject} from '../ui/json_value.ts';

// A change to a file in a tool call: the text before and after, or a patch.
export type TextsSource = {kind: 'texts'; path: string; before: string; after: string};
export type DiffSource = TextsSource | {kind: 'patch'; path: string; patch: string};

const text = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined);

const hunkHead = /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/m;
// Whether a text is a unified patch.
export const isPatch = (told: string): boolean => hunkHead.test(told);

// A content of type "diff" of the Agent Client Protocol; `oldText` is null for a new file.
export function ofContent(content: JsonObject): TextsSource | null {
  if (content.type !== 'diff') return null;
  const path = text(content.path) ?? '';
  const after = text(content.newText) ?? text(content.new_text);
  if (after === undefined) return null;
  return {kind: 'texts', path, before: text(content.oldText) ?? text(content.old_text) ?? '', after};
}

// The edits in the input of a tool call, under the names that agents use.
function ofInput(input: JsonObject, path: string): DiffSource[] {
  const own = text(input.file_path) ?? text(input.path) ?? text(input.filePath) ?? path;
  const patch = text(input.patch) ?? text(input.diff);
  if (patch !== undefined && isPatch(patch)) return [{kind: 'patch', path: own, patch}];
  if (Array.isArray(input.edits)) return input.edits.filter(isObject).flatMap(each => ofInput(each, own));
  const before = text(input.old_string) ?? text(input.oldText) ?? text(input.old_text);
  const after = text(input.new_string) ?? text(input.newText) ?? text(input.new_text);
  if (before !== undefined && after !== undefined) return [{kind: 'texts', path: own, before, after}];
  return [];
}

export interface ToolTold {
  content: JsonObject[];
  rawInput?: Json;
  rawOutput?: Json;
}

// The same call returns the same sources, so that results cached by source are found again.
const known = new WeakMap<ToolTold, DiffSource[]>();

// The changes of a tool call: its diffs, or else those found in its input and output.
export function diffsOf(call: ToolTold): DiffSource[] {
  let sources = known.get(call);
  if (!sources) known.set(call, sources = read(call));
  return sources;
}

function read(call: ToolTold): DiffSource[] {
  const told = call.content.flatMap(each => ofContent(each) ?? []);
  if (told.length > 0) return told;
  if (isObject(call.rawInput)) {
    const seen = ofInput(call.rawInput, '');
    if (seen.length > 0) return seen;
  }
  if (typeof call.rawOutput === 'string' && isPatch(call.rawOutput)) {
    return [{kind: 'patch', path: '', patch: call.rawOutput}];
  }
  return isObject(call.rawOutput) ? ofInput(call.rawOutput, '') : [];
}

// Above either limit, a diff is computed only on request.
export const largeLines = 20_000;
export const largeLength = 1 << 20;

function lineCount(told: string, enough: number): number {
  let count = 1;
  for (let at = told.indexOf('\n'); at >= 0 && count <= enough; at = told.indexOf('\n', at + 1)) count++;
  return count;
}

export function isLarge(source: DiffSource): boolean {
  const told = source.kind === 'patch' ? [source.patch] : [source.before, source.after];
  return told.reduce((sum, each) => sum + each.length, 0) > largeLength
    || told.some(each => lineCount(each, largeLines) > largeLines);
}
