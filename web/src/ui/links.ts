// Where a link in what an agent has written may lead.
const schemes = new Set(['http:', 'https:', 'mailto:']);

export function safeHref(href: string): string | null {
  try {
    const url = new URL(href);
    return schemes.has(url.protocol) ? url.href : null;
  } catch {
    // A path means nothing here: it is of the agent's folder.
    return null;
  }
}
