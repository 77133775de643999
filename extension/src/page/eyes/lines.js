/* global callslip */
/**
 * The lines of an outline while it is written. Adjacent inline content is collected in a flow, which
 * becomes one line, or a line for each element that can be acted on. Holders of lines (landmarks, groups,
 * items) are written only once they have content.
 */
callslip.lines = (() => {
  const { LINES, LINES_CHARS, PLACES } = callslip.bounds;
  const NONE = [];
  const FLOW_CHARS = 1_000;
  /** Matches text that is more than a separator. */
  const TEXT = /[^\p{P}\p{Z}\s|·•→+]/u;

  function create({ view }) {
    const lines = [];
    const holders = [];
    const lists = [];
    let flow = [];
    let flowChars = 0;
    let flowActs = false;
    let owner = null;
    let within = 0;
    let chars = 0;
    let row = null;

    const depthNow = () => holders.filter(({ counts }) => counts).length;

    /** Writes the lines of holders that have waited for content. */
    function openHolders() {
      let depth = 0;
      for (const holder of holders) {
        if (!holder.written && holder.text !== null) {
          holder.at = lines.length;
          push(holder.text, depth, holder);
          holder.counts = true;
        }
        holder.written = true;
        if (holder.counts) depth += 1;
      }
    }

    function push(text, depth, { refs = [], kind, element, frame, inside = within > 0 }) {
      chars += text.length;
      lines.push({
        depth, text, refs, kind, element, frame, inside,
        lists: lists.length === 0 ? NONE : lists.slice(0, PLACES).map(({ list, item }) => ({ list, item })),
      });
    }

    const isFull = () => lines.length >= LINES || chars >= LINES_CHARS;

    function write(text, details) {
      // The first line in an item becomes the line of the item itself.
      const item = holders.at(-1);
      const first = item?.kind === 'item' && !item.written;
      openHolders();
      push(first && details.kind === 'text' ? `- ${text}` : text, depthNow(), details);
      if (first) item.counts = true;
    }

    const bracketed = ({ act }) => `[${act}]`;

    /** The text of a flow of texts and acts, in page order. */
    function mixed(parts) {
      let line = '';
      let raw = '';
      const settle = () => {
        const text = callslip.names.clean(raw);
        if (text) {
          const before = line && /^\s/.test(raw) ? ' ' : '';
          const after = /\s$/.test(raw) ? ' ' : '';
          line += before + (line ? callslip.guard.inner(text) : callslip.guard.start(text)) + after;
        } else if (raw && line) {
          line += ' ';
        }
        raw = '';
      };
      for (const part of parts) {
        if (part.text !== undefined) {
          raw += part.text;
        } else {
          settle();
          line += bracketed(part);
        }
      }
      settle();
      return line.replace(/\](?=[\p{L}\p{N}])/gu, '] ').replace(/ {2,}/g, ' ').trim();
    }

    /** Splits a very long text into several lines, so that it can be shown in part. */
    function chunks(text) {
      if (text.length <= FLOW_CHARS * 2) return [text];
      const pieces = text.match(new RegExp(`.{1,${FLOW_CHARS}}(?=\\s|$)|.{1,${FLOW_CHARS}}`, 'gu'));
      return pieces.map((piece, index) => (index === 0 ? piece : callslip.guard.start(piece.trim())));
    }

    function refsOf(parts) {
      const all = [];
      for (const { refs } of parts) if (refs) all.push(...refs);
      return all;
    }

    function hasText(parts) {
      return parts.some(({ text }) => text !== undefined && TEXT.test(text));
    }

    /** Ends the flow. */
    function flush() {
      const parts = flow;
      const element = owner;
      flow = [];
      flowChars = 0;
      flowActs = false;
      owner = null;
      if (parts.length === 0) return;
      if (row) return row.flows.push({ parts, inside: within > 0 });
      const acts = parts.filter(({ act }) => act !== undefined);
      const told = view !== 'interactive' && hasText(parts);
      if (told) {
        const inside = within > 0 || acts.some((part) => part.inside);
        const refs = refsOf(acts);
        const whole = mixed(parts);
        const pieces = refs.length === 0 ? chunks(whole) : [whole];
        for (const piece of pieces) write(piece, { refs, kind: 'text', element, inside });
        return;
      }
      for (const part of acts) {
        if (view === 'interactive' && part.refs.length === 0) continue;
        writeAct(part);
      }
    }

    function writeAct({ act, refs, element, frame, inside, nested }) {
      write(act, {
        refs, kind: refs.length > 0 ? 'ref' : 'text', element, frame,
        inside: inside || within > 0,
      });
      if (nested > 0) lines.at(-1).depth += 1;
    }

    return {
      lines,

      text(raw, element) {
        if (!raw) return;
        // A very long text is split only if its line contains nothing else.
        if (flowActs && !row && flowChars + raw.length > FLOW_CHARS * 2) flush();
        flow.push({ text: raw });
        flowChars += raw.length;
        owner ??= element;
        if (flowChars > FLOW_CHARS && /[.!?…]\s*$/.test(raw) && !row) flush();
      },

      /** Adds an element with a role: `{act, refs, element, frame, inline, nested}`. */
      act(part) {
        if (!row && !part.inline) {
          flush();
          if (view !== 'interactive' || part.refs.length > 0) writeAct(part);
          return;
        }
        if (flowChars > FLOW_CHARS * 2 && !row) flush();
        flow.push(part);
        flowActs = true;
        flowChars += part.act.length;
        owner ??= part.element;
        if (flowChars > FLOW_CHARS && !row) flush();
      },

      flush,

      /** Opens a holder of the lines until `close`; with `text` null it has no line of its own. */
      open(text, kind, element) {
        flush();
        const counts = kind === 'under';
        holders.push({ text, kind, element, counts, written: counts, inside: within > 0 });
      },

      close() {
        flush();
        const { kind, at } = holders.pop();
        // A note that contains a single text is one line.
        if (kind === 'note' && at === lines.length - 2 && lines.at(-1).kind === 'text') {
          const { text } = lines.pop();
          lines.at(-1).text += ` ${text}`;
          lines.at(-1).kind = 'text';
        }
      },

      /** A heading: all its content is one line. */
      heading(level, element, work) {
        flush();
        const whole = row;
        row = { flows: [] };
        work();
        flush();
        const parts = row.flows.flatMap((each) => [{ text: ' ' }, ...each.parts]);
        row = whole;
        if (whole) {
          if (parts.length > 0) whole.flows.push({ parts, inside: within > 0 });
          return;
        }
        const acts = parts.filter(({ act }) => act !== undefined);
        const mark = '#'.repeat(level);
        const inside = within > 0 || acts.some((part) => part.inside);
        const details = { refs: refsOf(acts), element, inside };
        if (view === 'interactive') {
          for (const part of acts) if (part.refs.length > 0) writeAct(part);
        } else if (hasText(parts)) {
          write(`${mark} ${mixed(parts)}`, { ...details, kind: 'heading' });
        } else if (acts.length > 0) {
          write(`${mark} ${acts.map(({ act }) => act).join(' ')}`, { ...details, kind: 'heading' });
        }
      },

      /** A row of a table: all its content is one line, and `endCell` ends each cell. */
      row(element, work) {
        flush();
        const outer = row;
        row = { flows: [], cells: [] };
        work();
        flush();
        if (row.flows.length > 0) this.endCell();
        const { cells } = row;
        row = outer;
        while (cells.length > 0 && cells.at(-1).text === '') cells.pop();
        const refs = cells.flatMap((each) => each.refs);
        if (cells.length === 0 || (view === 'interactive' && refs.length === 0)) return;
        const inside = within > 0 || cells.some((each) => each.inside);
        write(cells.map(({ text }) => text).join(' | '), { refs, kind: 'row', element, inside });
      },

      endCell() {
        flush();
        if (!row?.cells) return;
        const { flows } = row;
        row.flows = [];
        const texts = flows.map(({ parts }) => {
          const acts = parts.filter(({ act }) => act !== undefined);
          if (hasText(parts)) return mixed(parts).replaceAll(' | ', ' ¦ ');
          return acts.map(({ act }) => act).join(' ');
        });
        row.cells.push({
          text: texts.filter(Boolean).join(' '),
          refs: flows.flatMap(({ parts }) => refsOf(parts)),
          inside: flows.some((each) => each.inside || each.parts.some(({ inside }) => inside)),
        });
      },

      inRow: () => row !== null,

      /** True once there are more lines than any caller reads. */
      isFull,

      /** Ends the outline; if it is full, a last line states this. */
      end() {
        flush();
        if (!isFull()) return;
        push(`… more than ${lines.length} lines: the rest of this page is not told`, 0, { kind: 'more', inside: false });
      },

      /** The part selected by a selector or ref is between these two. */
      enter() {
        flush();
        within += 1;
      },
      leave() {
        flush();
        within -= 1;
      },

      /** Lists, whose items are counted: long ones are shortened first. */
      openList() {
        lists.push({ list: { count: 0 }, item: -1 });
      },
      nextItem() {
        const list = lists.at(-1);
        if (!list) return;
        list.item += 1;
        list.list.count += 1;
      },
      closeList() {
        flush();
        lists.pop();
      },
    };
  }

  return { create };
})();
