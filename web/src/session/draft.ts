// What somebody is writing to a session, and has not sent: it outlives the page. Its id makes sure that
// it is sent once, however often sending it is tried.
export interface Draft {
  text: string;
  promptId: string;
  images: {id: string; name: string}[];
}

const nameOf = (session: string) => `callslip-draft-${session}`;

const newId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(12))].map(byte => byte.toString(16).padStart(2, '0')).join('');

export function readDraft(session: string): Draft {
  try {
    const draft = JSON.parse(localStorage.getItem(nameOf(session)) ?? 'null') as Partial<Draft> | null;
    if (typeof draft?.text === 'string' && draft.promptId) {
      return {text: draft.text, promptId: draft.promptId, images: draft.images ?? []};
    }
  } catch {
    // Somebody else's.
  }
  return {text: '', promptId: newId(), images: []};
}

export function writeDraft(session: string, draft: Draft): void {
  if (draft.text || draft.images.length) localStorage.setItem(nameOf(session), JSON.stringify(draft));
  else localStorage.removeItem(nameOf(session));
}

export const emptyDraft = (): Draft => ({text: '', promptId: newId(), images: []});
