/* global callslip */
/**
 * What one look at a frame takes and tells at the most, however its page is made. No page that was
 * made to be read comes near; a page made to keep us busy would otherwise have one text read for each
 * of its elements.
 */
callslip.bounds = {
  /** Nodes and UTF-16 units that are read for one name or text; 200 units of a name are told. */
  TEXT_NODES: 1_000,
  TEXT_CHARS: 1_000,

  /** White space that may stand before them: the indentation of some nested elements. */
  SPACE_CHARS: 1_000,

  /**
   * Nodes that are read so for one look, at worst some seconds' worth, and twelve for each of 40,000
   * elements; and for each further text once they are used up, which is enough for most names.
   */
  ALL_NODES: 500_000,
  LATE_NODES: 20,

  /** Elements by which one can be named: the heads of a column and a row, and a few words. */
  NAMING: 50,

  /** The text of what is told as one heading, in UTF-16 units: a few sentences. */
  HEADING_CHARS: 1_000,

  /** The text, and the elements, of what is told as one row: 20 cells, of 10 elements each. */
  ROW_CHARS: 800,
  ROW_NODES: 400,

  /** Landmarks and lists around a thing that count, the innermost and outermost: more than people nest. */
  PLACES: 8,

  /** The longest address of a link that is made out, in UTF-16 units: ten times as much as is told. */
  URL_CHARS: 2_000,

  /** Lines of a frame, and UTF-16 units in them: fifty times as much as one answer can have. */
  LINES: 50_000,
  LINES_CHARS: 3_000_000,

  /** Addresses of a document that are told apart by what was there: those that people go back to. */
  ADDRESSES: 100,

  /** Numbers of gone elements that are remembered; and elements with frames, ten times what browsers allow. */
  REMEMBERED: 20_000,
  OWNERS: 10_000,
};
