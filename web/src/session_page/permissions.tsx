import type {ComponentChildren} from 'preact';
import {useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import {canAct, canActNow, isAway} from '../api/http.ts';
import type {Json, JsonObject, Permission, PermissionOption} from '../api/types.ts';
import {DiffView} from '../diff/diff_view.tsx';
import {linesOf} from '../diff/lines.ts';
import {diffsOf, ofContent, type TextsSource} from '../diff/source.ts';
import {words} from '../session_list/groups.ts';
import {Boundary} from '../ui/failure.tsx';
import {isolated} from '../ui/isolated.tsx';
import {isObject, pretty} from '../ui/json_value.ts';
import {useSingleKeys} from '../ui/keys.ts';
import {Code} from '../ui/markdown.tsx';
import {useSteady} from '../ui/steady.ts';
import {visible} from '../ui/visible.ts';
import {placeOf} from './parts.tsx';
import type {SessionStore} from './store.ts';

// The open permission requests, above the message box: they cover nothing, and show everything that is requested.

// Permanent choices have no key, so that they are not made by mistake.
const keyOf: Record<string, string> = {allow_once: 'y', reject_once: 'n'};

// Names that already express their kind; for others the kind is added.
const saying: Record<string, RegExp> = {allow_once: /^(allow|yes)( once)?$/i, allow_always: /^(always allow|allow always)$/i,
  reject_once: /^(reject|no)( once)?$/i, reject_always: /^(always reject|reject always)$/i};

const nameOf = ({option_id: id, name, kind}: PermissionOption): string =>
  `${name || id}${!kind || saying[kind]?.test(name) ? '' : ` (${words(kind)})`}`;

export function Permissions({store}: {store: SessionStore}) {
  const [first, ...rest] = store.permissions.value;
  if (!first) return null;
  return (
    <section class="permissions" aria-label="Permission requests">
      <Boundary key={first.permission_id} what="This permission request"><Question permission={first} store={store} isFirst /></Boundary>
      {rest.length > 0 && (
        <details>
          <summary>{`${rest.length} more ${rest.length === 1 ? 'request' : 'requests'}`}</summary>
          {rest.map(each => <Boundary key={each.permission_id} what="This permission request"><Question permission={each} store={store} /></Boundary>)}
        </details>)}
    </section>);
}

function Question({permission, store, isFirst = false}: {permission: Permission; store: SessionStore; isFirst?: boolean}) {
  const options = useRef<HTMLFieldSetElement>(null);
  const [isAnswering, setAnswering] = useState(false);
  const asked = useMemo(() => JSON.stringify(permission), [permission]);
  const [isSteady, look] = useSteady(options, isAnswering || !canActNow() ? '' : asked);
  const pick = (option: PermissionOption) => {
    // Not before the user had time to read it.
    if (!look()) return;
    setAnswering(true);
    void store.answer(permission, option.option_id).then(() => setAnswering(false));
  };
  const optionOf = (key: string | undefined) => permission.options.find(({kind}) => key && keyOf[kind] === key);
  useSingleKeys(event => {
    // A held key answers only one question, not the next one too.
    const option = event.repeat || !isFirst || !canActNow() ? undefined : optionOf(event.key);
    if (!option) return;
    event.preventDefault();
    pick(option);
  });
  return (
    <div role="group" aria-label="Permission request" class="question" data-permission-id={permission.permission_id}>
      <Whole>
        <h3>{isolated(permission.title)}</h3>
        <Boundary of={asked} plain={() => visible(asked)}><Asked permission={permission} /></Boundary>
      </Whole>
      {canAct() ? (
        <fieldset class="actions" disabled={isAway.value} ref={options}>
          {permission.options.map(option => {
            const key = isFirst && optionOf(keyOf[option.kind]) === option ? keyOf[option.kind] : undefined;
            return (
              <button key={option.option_id} type="button" class={option.kind === 'allow_once' ? 'primary' : ''}
                aria-keyshortcuts={key} aria-disabled={!isSteady} onClick={() => pick(option)}>
                {isolated(nameOf(option))}{key && <kbd aria-hidden="true">{key}</kbd>}
              </button>);
          })}
        </fieldset>) : <p class="hint">Viewers cannot answer permission requests.</p>}
    </div>);
}

// Scrolls if the content is long, and shows how much of it is below.
function Whole({children}: {children: ComponentChildren}) {
  const box = useRef<HTMLDivElement>(null);
  const [below, setBelow] = useState(0);
  const [isLong, setLong] = useState(false);
  const look = () => {
    const {scrollHeight, scrollTop, clientHeight} = box.current!;
    setLong(scrollHeight > clientHeight + 1);
    setBelow(Math.ceil((scrollHeight - scrollTop - clientHeight - 1) / parseFloat(getComputedStyle(box.current!).lineHeight)));
  };
  useLayoutEffect(() => {
    const observer = new ResizeObserver(look);
    observer.observe(box.current!);
    observer.observe(box.current!.firstElementChild!);
    look();
    return () => observer.disconnect();
  }, []);
  return (
    <>
      <div class="asked" ref={box} onScroll={look} tabIndex={0} role="region" aria-label="Request details"><div>{children}</div></div>
      {/* Stays visible at the end, so that the content below does not move. */}
      {isLong && (
        <button type="button" class={`asked-more${below > 0 ? '' : ' is-over'}`} tabIndex={-1}
          onClick={() => box.current?.scrollBy({top: box.current.clientHeight * 0.8})}>
          {below > 0 ? `↓ ${below.toLocaleString('en')} more ${below === 1 ? 'line' : 'lines'} to read` : 'End of request'}
        </button>)}
    </>);
}

// Shows the whole request: a user must not approve anything that is not shown.
function Asked({permission}: {permission: Permission}) {
  const {places, diffs, texts} = useMemo(() => shownOf(permission), [permission]);
  const {kind, details: {left_out: leftOut} = {}} = permission;
  return (
    <>
      {kind && <p class="hint">Kind: {isolated(kind)}</p>}
      {places.map((each, at) => <div key={at} class="place">{isolated(placeOf(each))}</div>)}
      {diffs.map((each, at) => <DiffView key={at} source={each} show={isolated} whole />)}
      {texts.map((each, at) => <Code key={at} text={each} show={isolated} />)}
      {leftOut !== undefined && <p class="error-text">Too long to display, omitted: {isolated(pretty(leftOut))}</p>}
    </>);
}

function shownOf({title, kind, tool_call_id: toolCallId, details = {}}: Permission) {
  const {rawInput = null, content, locations, left_out: _, ...more} = details;
  const [places, otherPlaces] = split(locations, isPlace);
  const [contents, otherContents] = split(content, isObject);
  const told = contents.map(each => ({each, diff: diffIn(each)}));
  const diffs = told.flatMap(({diff}) => diff ?? []);
  const known = new Map(Object.entries({title, kind, toolCallId, status: 'pending'}));
  const rest = without({...more, locations: otherPlaces, content: otherContents}, (name, value) => known.get(name) === value);
  const texts = told.map(({each, diff}) => (diff ? restOf(each, diff) : textIn(each)));
  return {places, diffs: diffs.length > 0 ? diffs : diffsOf({content: [], rawInput}),
    texts: [rawInput === null ? null : commandOf(rawInput), ...texts, rest && pretty(rest)].filter(each => each !== null)};
}

// The elements of a list that have the known form, and the rest.
function split(value: Json | undefined, is: (each: Json) => each is JsonObject): [JsonObject[], Json] {
  if (!Array.isArray(value)) return [[], value ?? null];
  const others = value.filter(each => !is(each));
  return [value.filter(is), others.length > 0 ? others : null];
}

// The object without null members and those for which `is` returns true; null if nothing is left.
function without(value: JsonObject, is = (_name: string, _value: Json) => false): JsonObject | null {
  const left = Object.entries(value).filter(([name, each]) => each !== null && !is(name, each));
  return left.length > 0 ? Object.fromEntries(left) : null;
}

const isPlace = (value: Json): value is JsonObject => isObject(value) && typeof value.path === 'string'
  && Object.entries(value).every(([name, each]) => name === 'path' || (name === 'line' && (typeof each === 'number' || each === null)));

// The diff of a content; null if the diff would show no changes.
function diffIn(content: JsonObject): TextsSource | null {
  const diff = ofContent(content);
  return diff && linesOf(diff.before).join('\n') !== linesOf(diff.after).join('\n') ? diff : null;
}

const diffMembers = ['path', 'oldText', 'old_text', 'newText', 'new_text'];

function restOf(content: JsonObject, {path, before, after}: TextsSource): string | null {
  const rest = without(content, (name, value) => name === 'type' || (diffMembers.includes(name) && [path, before, after].some(each => each === value)));
  return rest && pretty(rest);
}

// The literal text: rendered markdown would hide parts of it.
function textIn(value: JsonObject): string {
  const {type, content, ...more} = value;
  return type === 'content' && isObject(content) && content.type === 'text' && typeof content.text === 'string'
    && !without(more) && !without(content, name => name === 'type' || name === 'text') ? content.text : pretty(value);
}

function commandOf(value: Json): string {
  if (typeof value === 'string') return value;
  if (isObject(value)) {
    const {command, ...more} = value;
    if (typeof command === 'string' && Object.keys(more).length === 0) return command;
  }
  return pretty(value);
}
