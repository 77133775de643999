// Allowed schemes of links in an agent's text.
const schemes = new Set(['http:', 'https:', 'mailto:']);

export function safeHref(href: string): string | null {
  try {
    const url = new URL(href);
    return schemes.has(url.protocol) ? url.href : null;
  } catch {
    // A path is meaningless here: it belongs to the agent's folder.
    return null;
  }
}
