import {useMemo, useReducer, useRef, useState} from 'preact/hooks';
import type {Json} from '../api/types.ts';
import {childStep, counted, foldedLength, morePath, OpenRows, parentRow, rowsOf, summaryOf, type TreeRow} from './json_value.ts';
import {begin} from './text.ts';
import {visible} from './visible.ts';

// A JSON value as a tree. Rows are created as they are expanded; arrow keys, Home, End and Enter work as in the ARIA
// tree pattern.
export function JsonTree({value, label, isOpen = true}: {value: Json; label: string; isOpen?: boolean}) {
  const [version, again] = useReducer((count: number) => count + 1, 0);
  const open = useMemo(() => {
    const made = new OpenRows();
    if (isOpen) made.open('');
    return made;
  }, []);
  const [active, setActive] = useState('');
  const tree = useRef<HTMLDivElement>(null);
  // Strings are not parsed again each time that the clock next to them changes.
  const rows = useMemo(() => rowsOf(value, open), [value, version]);
  const at = Math.max(0, rows.findIndex(({path}) => path === active));

  const focus = (index: number) => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))]!;
    setActive(row.path);
    tree.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(row.path)}"]`)?.focus();
  };
  const toggle = (row: TreeRow) => {
    if (row.left !== undefined) open.more(row.path.slice(0, -morePath.length));
    else if (row.isOpen) open.close(row.path);
    else if (row.isOpen === false) open.open(row.path);
    else return;
    again(0);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rows[at]!;
    if (event.key === 'ArrowDown') focus(at + 1);
    else if (event.key === 'ArrowUp') focus(at - 1);
    else if (event.key === 'Home') focus(0);
    else if (event.key === 'End') focus(rows.length - 1);
    else if (event.key === 'Enter' || event.key === ' ') toggle(row);
    else if (event.key === 'ArrowRight') {
      if (row.isOpen === false || row.left !== undefined) toggle(row);
      else if (row.isOpen) focus(at + 1);
    } else if (event.key === 'ArrowLeft') {
      if (row.isOpen) toggle(row);
      else if (parentRow(rows, at) >= 0) focus(parentRow(rows, at));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div class="json-tree" role="tree" aria-label={label} ref={tree} onKeyDown={onKey}>
      {rows.map((row, index) => (
        <div key={row.path} class="json-row" role="treeitem" data-path={row.path} aria-level={row.level}
          aria-posinset={row.position} aria-setsize={row.setSize} aria-selected={index === at}
          aria-expanded={row.isOpen ?? undefined} tabIndex={index === at ? 0 : -1}
          style={{paddingInlineStart: `${Math.min(row.level - 1, 12) * 1.1}em`}}
          onClick={() => {
            setActive(row.path);
            // Selecting text in an expanded string must not collapse it.
            if (!getSelection()?.toString()) toggle(row);
          }}>
          <Row row={row} />
        </div>))}
    </div>);
}

function Row({row}: {row: TreeRow}) {
  if (row.left !== undefined) {
    const next = Math.min(childStep, row.left);
    return <span class="json-more">Show {next} more of {row.left.toLocaleString('en')}</span>;
  }
  return (
    <>
      <span class="json-mark" aria-hidden="true">{row.isOpen === null ? '' : row.isOpen ? '▾' : '▸'}</span>
      {row.name && <span class="json-name">{visible(row.name)}: </span>}
      <Value row={row} />
    </>);
}

function Value({row: {value, picture, isParsed, isOpen}}: {row: TreeRow}) {
  if (picture) return <img class="json-picture" src={picture} alt="Image in the value" loading="lazy" />;
  if (typeof value !== 'string') {
    return (
      <span class={`json-${value === null ? 'null' : typeof value}`}>
        {visible(summaryOf(value))}{isParsed && <em class="json-note"> in a string</em>}
      </span>);
  }
  const shown = isOpen === false ? begin(value, foldedLength) : value;
  return (
    <span class={`json-string${isOpen ? ' is-open' : ''}`}>
      {visible(shown)}
      {shown !== value && <em class="json-note">… {counted(value.length - shown.length, 'more character')}</em>}
    </span>);
}
