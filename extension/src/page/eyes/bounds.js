/* global callslip */
/**
 * The limits of one look at a frame, whatever its page contains. No page made for reading comes near them;
 * without them, a page made to keep the extension busy could cause one text to be read for each of its
 * elements.
 */
callslip.bounds = {
  /** Nodes and UTF-16 units that are read for one name or text; 200 units of a name are shown. */
  TEXT_NODES: 1_000,
  TEXT_CHARS: 1_000,

  /** White space that may precede them: the indentation of some nested elements. */
  SPACE_CHARS: 1_000,

  /**
   * Nodes that are read in this way in one look, at worst some seconds' worth, and twelve for each of
   * 40,000 elements; and for each further text once they are used up, which is enough for most names.
   */
  ALL_NODES: 500_000,
  LATE_NODES: 20,

  /** Elements that can together name one: the headers of a column and a row, and a few words. */
  NAMING: 50,

  /** The longest text that is shown as one heading, in UTF-16 units: a few sentences. */
  HEADING_CHARS: 1_000,

  /** The text, and the elements, of a table row that is shown as one line: 20 cells, of 10 elements each. */
  ROW_CHARS: 800,
  ROW_NODES: 400,

  /** How many landmarks (the innermost) and lists (the outermost) around an element count: more than authors nest. */
  PLACES: 8,

  /** The longest address of a link that is parsed, in UTF-16 units: ten times as much as is shown. */
  URL_CHARS: 2_000,

  /** Lines of a frame, and UTF-16 units in them: fifty times as much as one answer can have. */
  LINES: 50_000,
  LINES_CHARS: 3_000_000,

  /** Addresses of a document whose elements are distinguished: those that people return to. */
  ADDRESSES: 100,

  /**
   * Numbers of removed elements that are remembered; and elements with frames, ten times what browsers
   * allow.
   */
  REMEMBERED: 20_000,
  OWNERS: 10_000,
};
