import {signal} from '@preact/signals';
import {go, sessionPath} from '../router.ts';
import type {Notice} from './notices.ts';
import {keep, stored} from '../ui/storage.ts';

// Notifications of the browser: for who wants them, while none of the page's tabs is looked at.
const chosenKey = 'callslip-notifications';
// Milliseconds for which a notice is that of the tab which took it: by then all of them have heard.
const mineMs = 60_000;
// Milliseconds in which a tab that is looked at may say that it is.
const lookMs = 300;

// Why there are none: nothing the browser has, nothing it allows, nothing it shows of a page.
export type Refused = '' | 'missing' | 'denied' | 'failed';
const failed = signal(false);
const asked = signal(0);

export function refused(): Refused {
  void asked.value;
  if (typeof Notification === 'undefined' || !isSecureContext) return 'missing';
  if (failed.value) return 'failed';
  return Notification.permission === 'denied' ? 'denied' : '';
}

export const isNotifying = (): boolean =>
  refused() === '' && stored(chosenKey) === 'on' && Notification.permission === 'granted';

export async function setNotifying(on: boolean): Promise<void> {
  failed.value = false;
  if (on && refused() !== 'missing' && await Notification.requestPermission() === 'granted') keep(chosenKey, 'on');
  else keep(chosenKey, null);
  asked.value++;
}

// Whether no other tab has taken it, nor this one before.
const take = (tag: string) => new Promise<boolean>(resolve => {
  void navigator.locks.request(`callslip-notice-${tag}`, {ifAvailable: true}, lock => {
    resolve(lock !== null);
    return lock && new Promise(done => { setTimeout(done, mineMs); });
  });
});

const isLookedAt = () => document.visibilityState === 'visible';

// Tells it once in all tabs, and not where one is looked at; nor what is no longer so by then.
export function notify(notice: Notice, isStillSo: () => boolean): void {
  if (!isNotifying()) return;
  if (isLookedAt()) {
    void take(notice.tag);
    return;
  }
  setTimeout(async () => {
    if (!isNotifying() || isLookedAt() || !isStillSo() || !await take(notice.tag)) return;
    try {
      const shown = new Notification(notice.title, {body: notice.text, tag: notice.tag, icon: '/ui/icon.svg'});
      shown.onclick = () => {
        focus();
        go(sessionPath(notice.session));
        shown.close();
      };
    } catch {
      failed.value = true;
    }
  }, lookMs);
}
