import {signal} from '@preact/signals';
import type {Part} from '../conversation/log.ts';

// Which parts of a conversation are expanded; outlives the rows that show them.
export class Folds {
  // The choice for all parts, and later choices for single ones.
  private readonly all = signal<boolean | null>(null);
  private readonly chosen = signal<ReadonlyMap<string, boolean>>(new Map());

  // Failed tool calls are expanded by default; for others the title is enough.
  isOpen(part: Part): boolean {
    return this.chosen.value.get(part.key) ?? this.all.value ?? (part.kind === 'tool' && part.status === 'failed');
  }

  toggle(part: Part): void {
    this.open(part, !this.isOpen(part));
  }

  open(part: Part, isOpen = true): void {
    this.chosen.value = new Map(this.chosen.value).set(part.key, isOpen);
  }

  // Expands all; collapses all if all are expanded.
  toggleAll(): void {
    this.all.value = !this.all.value;
    this.chosen.value = new Map();
  }
}

export const canFold = (part: Part | undefined): part is Part =>
  part?.kind === 'tool' || part?.kind === 'thought' || part?.kind === 'unknown';
