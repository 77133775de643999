// Runs before anything is painted, so that nobody who chose dark sees white first.
try {
  const chosen = localStorage.getItem('callslip-theme');
  if (chosen === 'dark' || chosen === 'light') document.documentElement.dataset.theme = chosen;
} catch {
  // A browser that keeps nothing.
}
