import {isEnded, type Command} from './model.ts';

// Ended commands that are kept: the tracker forgets them after a minute, failed ones after ten.
export const keptEnded = 1_000;
// Others that are kept at most.
export const keptLive = 10_000;

// Commands by their id, as lists and live batches tell of them, in whatever order those come.
export class CommandStore {
  private readonly rows = new Map<string, Command>();
  // Ids in the order in which their ends became known.
  private readonly ended = new Set<string>();
  // Not at the tracker any more, as it was told, or as a whole list has shown.
  private readonly gone = new Set<string>();
  // What batches told of since the list under way was asked for.
  private touched: Set<string> | null = null;

  get size(): number { return this.rows.size; }
  get(id: string): Command | undefined { return this.rows.get(id); }
  isGone(id: string): boolean { return this.gone.has(id); }

  // Newest first.
  sorted(): Command[] {
    return [...this.rows.values()].sort((a, b) =>
      a.created_at < b.created_at ? 1 : a.created_at > b.created_at ? -1 : a.correlation_id < b.correlation_id ? 1 : -1);
  }

  batch(commands: readonly Command[]): void {
    for (const each of commands) {
      this.touched?.add(each.correlation_id);
      this.put(each);
    }
    this.trim();
  }

  // A list is asked for: what batches tell until it comes is newer than it.
  listing(): void { this.touched = new Set(); }

  // The list that was asked for. A whole one has every command of the tracker: what is not in it has
  // been forgotten there, and how it ended, where that was not seen, is not known.
  listed(commands: readonly Command[], isWhole: boolean): void {
    const told = new Set(commands.map(({correlation_id}) => correlation_id));
    for (const each of commands) {
      // What was removed meanwhile does not come back.
      const id = each.correlation_id;
      if (!this.touched?.has(id) || !this.gone.has(id)) this.put(each);
    }
    if (isWhole) {
      for (const [id, row] of this.rows) {
        if (told.has(id) || this.touched?.has(id)) continue;
        if (isEnded(row)) this.gone.add(id);
        else this.rows.delete(id);
      }
    }
    this.touched = null;
    this.trim();
  }

  private put(told: Command): void {
    const id = told.correlation_id;
    const known = this.rows.get(id);
    if (known && isNewer(known, told)) return;
    if (told.removed) this.gone.add(id);
    else this.gone.delete(id);
    this.rows.set(id, told);
    if (isEnded(told)) this.ended.add(id);
  }

  private trim(): void {
    for (const id of this.ended) {
      if (this.ended.size <= keptEnded) break;
      this.forget(id);
    }
    let spare = this.rows.size - this.ended.size - keptLive;
    for (const [id, row] of this.rows) {
      if (spare <= 0) break;
      if (isEnded(row)) continue;
      this.forget(id);
      spare--;
    }
  }

  private forget(id: string): void {
    this.ended.delete(id);
    this.gone.delete(id);
    this.rows.delete(id);
  }
}

// Whether what is known comes after what is told. An end is final but for that of a complete command
// whose result then expires.
function isNewer(known: Command, told: Command): boolean {
  if (known.revision !== undefined && told.revision !== undefined) return known.revision > told.revision;
  return isEnded(known) && !isEnded(told);
}
