/** Runs in the page, among its own scripts, where record_console.js keeps its entries. */
export function readRecordedConsole(limit, level) {
  const url = location.href;
  const record = window[Symbol.for('callslip.console')];
  const all = record.entries.filter((entry) => level === null || entry.level === level);
  const data = {
    entries: all.slice(-limit),
    truncated: all.length > limit || record.dropped,
    observed_since: record.since,
  };
  // The page may have put anything there; only text and plain values may leave it.
  return { url, data: JSON.parse(JSON.stringify(data)) };
}
