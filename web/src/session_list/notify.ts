import {signal} from '@preact/signals';
import {go, sessionPath} from '../router.ts';
import type {Notice} from './notices.ts';
import {keep, stored} from '../ui/storage.ts';

// Browser notifications: for users who have turned them on, while no tab of the page is visible.
const chosenKey = 'callslip-notifications';
// Milliseconds that a notice belongs to the tab that took it: all tabs have received it by then.
const mineMs = 60_000;
// Milliseconds in which a visible tab can claim a notice.
const lookMs = 300;

// Why there are no notifications: not available, not allowed, or not supported for pages.
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

// Whether no tab, including this one, has taken the notice before.
const take = (tag: string) => new Promise<boolean>(resolve => {
  void navigator.locks.request(`callslip-notice-${tag}`, {ifAvailable: true}, lock => {
    resolve(lock !== null);
    return lock && new Promise(done => { setTimeout(done, mineMs); });
  });
});

const isLookedAt = () => document.visibilityState === 'visible';

// Shows a notice once for all tabs, unless one of them is visible, or the notice is outdated by then.
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
