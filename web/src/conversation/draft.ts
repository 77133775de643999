import {signal} from '@preact/signals';
import {ApiError, me, newId} from '../api/http.ts';
import {keep, stored} from '../ui/storage.ts';

// The unsent text of a user for a session. There is one draft per user and session: it outlives the input box and the
// page, and all tabs show the same.
export interface Picture {
  id: string;
  name: string;
}
// An edited message of the queue, and its original text.
export interface Edit {
  text: string;
  of: string;
}
export interface Written {
  text: string;
  images: Picture[];
  // By message id.
  edits: Record<string, Edit>;
  // Prefix of the ids of what is sent from the draft; replaced once the message has arrived.
  nonce: string;
}

const nothing: Written = {text: '', images: [], edits: {}, nonce: ''};
const isNothing = ({text, images, edits}: Written) => !text && images.length === 0 && Object.keys(edits).length === 0;

// A 53-bit hash (cyrb53): the gateway rejects two texts of one draft with the same hash.
function hash(text: string): string {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return (4294967296 * (2097151 & low) + (high >>> 0)).toString(36);
}

// The same content has the same id in every attempt, so that it is sent once; other content has another id, so that it
// is never taken for an earlier attempt.
export const promptId = ({text, images, nonce}: Written, isNow: boolean): string =>
  `${nonce}-${hash(JSON.stringify([text, images.map(({id}) => id), isNow]))}`;

function read(kept: string | null): Written {
  try {
    const {text, images, edits, nonce} = JSON.parse(kept ?? 'null') as Partial<Written>;
    if (typeof text === 'string') return {text, images: Array.isArray(images) ? images : [], edits: edits ?? {}, nonce: nonce || newId()};
  } catch {
    // Nothing stored, or not a draft.
  }
  return nothing;
}

// Both texts, unless one contains the other.
function joined(one: string, other: string): string {
  if (one.includes(other)) return one;
  return other.includes(one) ? other : `${one}\n\n${other}`;
}

export interface Message {
  message: string;
  prompt_id: string;
  image_ids?: string[];
  now?: true;
}

export class Draft {
  readonly written = signal<Written>(nothing);
  readonly isSending = signal(false);
  // Images being uploaded.
  readonly uploads = signal(0);
  readonly error = signal<unknown>(null);
  // Whether the draft outlives the page.
  readonly isKept = signal(true);
  // The state last read from or written to the browser's storage.
  private seen: string | null = null;
  // The content being sent, and its position in the text; -1 once the text there was rewritten.
  private sending: {text: string; at: number; images: Picture[]} | null = null;

  constructor(private readonly name: string) {
    this.exchange();
  }

  write(text: string): void {
    this.change({text});
  }
  // Appends a text.
  add(text: string): void {
    this.change({text: joined(this.written.peek().text, text.replace(/\r\n?/g, '\n'))});
  }
  leaveOut(image: string): void {
    this.change({images: this.written.peek().images.filter(({id}) => id !== image)});
  }

  // Null ends the edit.
  edit(message: string, edit: Edit | null): void {
    const {[message]: _, ...others} = this.written.peek().edits;
    this.change({edits: edit ? {...others, [message]: edit} : others});
  }
  // Moves changed texts of messages that no longer wait into the draft, to be sent again. Returns whether there were
  // any.
  keepEdits(waiting: ReadonlySet<string>): boolean {
    const gone = Object.entries(this.written.peek().edits).filter(([id]) => !waiting.has(id));
    const changed = gone.filter(([, {text, of}]) => text.trim() && text !== of);
    for (const [, {text}] of changed) this.add(text);
    for (const [id] of gone) this.edit(id, null);
    return changed.length > 0;
  }

  // Uploads one file at a time, and adds each as soon as it has arrived.
  async attach(files: Iterable<File>, upload: (file: File) => Promise<Picture | undefined>): Promise<void> {
    for (const file of files) {
      if (!file.type.startsWith('image/')) continue;
      this.uploads.value++;
      try {
        const added = await upload(file);
        if (!added) continue;
        // The image belongs to the next message, even if the same one is being sent.
        if (this.sending) this.sending.images = this.sending.images.filter(({id}) => id !== added.id);
        this.change({images: [...this.written.peek().images.filter(({id}) => id !== added.id), added]});
      } finally {
        this.uploads.value--;
      }
    }
  }

  // Sends the current content; changes made meanwhile stay in the draft.
  async send(isNow: boolean, deliver: (message: Message) => Promise<unknown>): Promise<void> {
    const sent = this.written.peek();
    if (this.isSending.peek() || !sent.text.trim()) return;
    this.isSending.value = true;
    this.error.value = null;
    this.sending = {text: sent.text, at: 0, images: sent.images};
    try {
      await deliver({message: sent.text, prompt_id: promptId(sent, isNow),
        ...(sent.images.length ? {image_ids: sent.images.map(({id}) => id)} : {}), ...(isNow ? {now: true} : {})});
      this.takeSent();
    } catch (failure) {
      const told = failure instanceof ApiError ? failure : null;
      // An earlier attempt had arrived.
      if (told?.code === 'duplicate_prompt') this.takeSent();
      else if (told?.code === 'prompt_id_reused') {
        this.change({nonce: newId()});
        this.error.value = new ApiError(told.status, told.code, told.message, `${told.hint} It has a new ID now. Send it again.`.trim());
      } else this.error.value = failure;
    } finally {
      this.sending = null;
      this.isSending.value = false;
    }
  }

  private takeSent(): void {
    this.exchange();
    const {text, images} = this.written.peek();
    const {text: sent, at, images: sentImages} = this.sending!;
    const rest = at < 0 ? text : text.slice(0, at) + text.slice(at + sent.length);
    this.sending = null;
    this.change({text: rest.trim() ? rest : '', nonce: newId(),
      images: images.filter(({id}) => !sentImages.some(each => each.id === id))});
  }

  private change(change: Partial<Written>): void {
    this.set({...this.written.peek(), ...change});
    this.exchange();
  }

  private set(next: Written): void {
    this.follow(this.written.peek().text, next.text);
    this.written.value = isNothing(next) ? nothing : {...next, nonce: next.nonce || newId()};
  }

  // Tracks the position of the content being sent through a change of the text.
  private follow(before: string, after: string): void {
    const {sending} = this;
    if (!sending || sending.at < 0) return;
    let start = 0;
    while (start < before.length && before[start] === after[start]) start++;
    let end = before.length;
    const moved = after.length - before.length;
    while (end > start && end + moved > start && before[end - 1] === after[end + moved - 1]) end--;
    if (end <= sending.at) sending.at += moved;
    else if (start < sending.at + sending.text.length) sending.at = -1;
  }

  // Merges the state stored by another tab, and stores the own state. If both have changes that the other has not seen,
  // keeps both.
  exchange(): void {
    const there = stored(this.name);
    if (there !== this.seen) {
      const [theirs, mine] = [read(there), this.written.peek()];
      this.set(this.kept() === this.seen ? theirs : {text: joined(theirs.text, mine.text), nonce: mine.nonce,
        images: [...theirs.images.filter(each => !mine.images.some(({id}) => id === each.id)), ...mine.images],
        edits: {...theirs.edits, ...mine.edits}});
      this.seen = there;
    }
    const mine = this.kept();
    if (mine === this.seen) return;
    this.isKept.value = keep(this.name, mine);
    if (this.isKept.value) this.seen = mine;
  }

  private kept(): string | null {
    const {text, images, edits, nonce} = this.written.peek();
    return nonce ? JSON.stringify({text, images, edits, nonce}) : null;
  }
}

const drafts = new Map<string, Draft>();

// The current user's draft; '' is the draft for a new session.
export function draftOf(session: string): Draft {
  const name = `callslip-draft/${encodeURIComponent(me.peek()?.name ?? '')}/${session}`;
  let draft = drafts.get(name);
  if (!draft) {
    if (drafts.size === 0) {
      addEventListener('storage', ({key}) => { if (key) drafts.get(key)?.exchange(); });
      // A frozen tab has received no storage events.
      document.addEventListener('visibilitychange', () => { for (const each of drafts.values()) each.exchange(); });
    }
    drafts.set(name, draft = new Draft(name));
  }
  return draft;
}
