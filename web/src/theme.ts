// Runs before the first paint, so that users of the dark theme see no white flash.
try {
  const chosen = localStorage.getItem('callslip-theme');
  if (chosen === 'dark' || chosen === 'light') document.documentElement.dataset.theme = chosen;
} catch {
  // A browser that stores nothing.
}
