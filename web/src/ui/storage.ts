// What this browser keeps for the page. It may have no room, or keep nothing at all: whoever asks then has
// what is in memory, and nothing else breaks.
export function stored(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

// Null takes it away. Whether it is kept.
export function keep(name: string, value: string | null): boolean {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
    return true;
  } catch {
    return false;
  }
}
