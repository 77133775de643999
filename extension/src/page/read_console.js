/**
 * Runs in a frame, among its page's own scripts, where record_console.js keeps its entries. One that
 * may run no scripts has none.
 */
export function readRecordedConsole(limit, level) {
  const url = location.href;
  const record = window[Symbol.for('callslip.console')];
  if (!record) return { url, data: { entries: [], truncated: false } };
  const all = record.entries.filter((entry) => level === null || entry.level === level);
  const data = {
    entries: all.slice(-limit),
    truncated: all.length > limit || record.dropped,
    observed_since: record.since,
  };
  // The page may have put anything there; only text and plain values may leave it.
  return { url, data: JSON.parse(JSON.stringify(data)) };
}
