import {signal} from '@preact/signals';

// The time, updated every second while the page is visible: all relative times use this timer.
export const now = signal(Date.now());

let timer = 0;
function tick(): void {
  clearInterval(timer);
  if (document.visibilityState !== 'visible') return;
  now.value = Date.now();
  timer = window.setInterval(() => { now.value = Date.now(); }, 1_000);
}

export function startClock(): void {
  document.addEventListener('visibilitychange', tick);
  tick();
}

// "now", "12 s", "4 min", "3 h", "2 d".
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

export function ago(time: string, at: number): string {
  const ms = at - Date.parse(time);
  return ms < 5_000 ? 'now' : duration(ms);
}

const sameDay = (a: Date, b: Date) => a.toDateString() === b.toDateString();

// The time of day, with the date if it is another day.
export function clockTime(time: string, at: number): string {
  const date = new Date(time);
  const clock = date.toLocaleTimeString([], {hour: '2-digit', minute: '2-digit', second: '2-digit'});
  return sameDay(date, new Date(at)) ? clock : `${date.toLocaleDateString()} ${clock}`;
}
