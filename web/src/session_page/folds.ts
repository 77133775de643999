import {signal} from '@preact/signals';
import type {Part} from '../conversation/log.ts';

// Which parts of a conversation are open: it outlives the rows that show them.
export class Folds {
  // What was chosen for all of them, and for some since.
  private readonly all = signal<boolean | null>(null);
  private readonly chosen = signal<ReadonlyMap<string, boolean>>(new Map());

  // What has failed is looked at; of what went well the title is enough.
  isOpen(part: Part): boolean {
    return this.chosen.value.get(part.key) ?? this.all.value ?? (part.kind === 'tool' && part.status === 'failed');
  }

  toggle(part: Part): void {
    this.open(part, !this.isOpen(part));
  }

  open(part: Part, isOpen = true): void {
    this.chosen.value = new Map(this.chosen.value).set(part.key, isOpen);
  }

  // Opens all; closes them where all are open.
  toggleAll(): void {
    this.all.value = !this.all.value;
    this.chosen.value = new Map();
  }
}

export const canFold = (part: Part | undefined): part is Part =>
  part?.kind === 'tool' || part?.kind === 'thought' || part?.kind === 'unknown';
