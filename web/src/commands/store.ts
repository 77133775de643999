import {isEnded, type Command} from './model.ts';

// Limit of ended commands: the tracker forgets them after one minute, failed ones after ten.
export const keptEnded = 1_000;
// Limit of other commands.
export const keptLive = 10_000;

// Commands by id, merged from lists and live batches, in whatever order these arrive.
export class CommandStore {
  private readonly rows = new Map<string, Command>();
  // Ids in the order in which the ends became known.
  private readonly ended = new Set<string>();
  // No longer at the tracker, according to a batch or a complete list.
  private readonly gone = new Set<string>();
  // Ids in batches since the current list was requested.
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

  // A list was requested: batches that arrive before it are newer.
  listing(): void { this.touched = new Set(); }

  // Takes the requested list. A complete list has every command of the tracker: a command missing from it was forgotten
  // there, and its end, unless seen before, is unknown.
  listed(commands: readonly Command[], isWhole: boolean): void {
    const told = new Set(commands.map(({correlation_id}) => correlation_id));
    for (const each of commands) {
      // A command removed meanwhile must not reappear.
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

// Whether the known state is newer. An end is final, except that the result of a complete command can expire.
function isNewer(known: Command, told: Command): boolean {
  if (known.revision !== undefined && told.revision !== undefined) return known.revision > told.revision;
  return isEnded(known) && !isEnded(told);
}
