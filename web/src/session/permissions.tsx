import type {ComponentChildren} from 'preact';
import {useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import {canAct, canActNow, isAway} from '../api/http.ts';
import type {Json, JsonObject, Permission, PermissionOption} from '../api/types.ts';
import {DiffView} from '../diff/diff_view.tsx';
import {diffsOf} from '../diff/source.ts';
import {isObject, objects} from '../sessions/log.ts';
import {Boundary} from '../ui/failure.tsx';
import {pretty} from '../ui/json_value.ts';
import {useSingleKeys} from '../ui/keys.ts';
import {Code} from '../ui/markdown.tsx';
import {useSteady} from '../ui/steady.ts';
import {visible} from '../ui/visible.ts';
import {placeOf} from './parts.tsx';
import type {SessionStore} from './store.ts';

// What the agent asks, over the box for messages: it covers nothing, and shows all of what is asked for.

// What holds for ever is pressed itself, and not in the place of something else.
const keyOf: Record<string, string> = {allow_once: 'y', reject_once: 'n'};

export function Permissions({store}: {store: SessionStore}) {
  const [first, ...rest] = store.permissions.value;
  if (!first) return null;
  return (
    <section class="permissions" aria-label="Permissions">
      <Boundary key={first.permission_id} what="This question"><Question permission={first} store={store} isFirst /></Boundary>
      {rest.length > 0 && (
        <details>
          <summary>{`${rest.length} more ${rest.length === 1 ? 'question waits' : 'questions wait'}`}</summary>
          {rest.map(each => <Boundary key={each.permission_id} what="This question"><Question permission={each} store={store} /></Boundary>)}
        </details>)}
    </section>);
}

function Question({permission, store, isFirst = false}: {permission: Permission; store: SessionStore; isFirst?: boolean}) {
  const options = useRef<HTMLFieldSetElement>(null);
  const [isAnswering, setAnswering] = useState(false);
  const asked = useMemo(() => JSON.stringify(permission), [permission]);
  const [isSteady, look] = useSteady(options, isAnswering || !canActNow() ? '' : asked);
  const pick = (option: PermissionOption) => {
    // Not before it could be read.
    if (!look()) return;
    setAnswering(true);
    void store.answer(permission, option.option_id).then(() => setAnswering(false));
  };
  const optionOf = (key: string | undefined) => permission.options.find(({kind}) => key && keyOf[kind] === key);
  useSingleKeys(event => {
    // A key that is held answers one question, not the next one too.
    const option = event.repeat || !isFirst || !canActNow() ? undefined : optionOf(event.key);
    if (!option) return;
    event.preventDefault();
    pick(option);
  });
  return (
    <div role="group" aria-label="Permission" class="question" data-permission-id={permission.permission_id}>
      <Whole>
        <h3>{visible(permission.title)}</h3>
        <Boundary of={asked} plain={() => visible(asked)}><Asked permission={permission} /></Boundary>
      </Whole>
      {canAct() ? (
        <fieldset class="actions" disabled={isAway.value} ref={options}>
          {permission.options.map(option => {
            const key = isFirst && optionOf(keyOf[option.kind]) === option ? keyOf[option.kind] : undefined;
            return (
              <button key={option.option_id} type="button" class={option.kind === 'allow_once' ? 'primary' : ''}
                aria-keyshortcuts={key} aria-disabled={!isSteady} onClick={() => pick(option)}>
                {visible(option.name || option.option_id)}{key && <kbd aria-hidden="true">{key}</kbd>}
              </button>);
          })}
        </fieldset>) : <p class="hint">You may look, but not answer: your role is viewer.</p>}
    </div>);
}

// Scrolls where it is long, and says how much of it is below.
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
      <div class="asked" ref={box} onScroll={look} tabIndex={0} role="region" aria-label="What is asked for"><div>{children}</div></div>
      {/* It keeps its place at the end: what is below it does not move. */}
      {isLong && (
        <button type="button" class={`asked-more${below > 0 ? '' : ' is-over'}`} tabIndex={-1}
          onClick={() => box.current?.scrollBy({top: box.current.clientHeight * 0.8})}>
          {below > 0 ? `↓ ${below.toLocaleString('en')} more ${below === 1 ? 'line' : 'lines'} to read` : 'That is all of it.'}
        </button>)}
    </>);
}

// All of it: what is not shown is not approved.
function Asked({permission}: {permission: Permission}) {
  const {rawInput, content, locations, left_out: leftOut, title, kind: _, status: __, toolCallId: ___, ...more} = permission.details ?? {};
  const call = useMemo(() => ({content: objects(content), ...(rawInput === undefined ? {} : {rawInput})}), [permission]);
  const others: {[name: string]: Json} = {...more, ...(title === permission.title ? {} : {title: title ?? null}),
    ...(Array.isArray(content) && call.content.length === content.length ? {} : {content: content ?? null})};
  const rest = Object.entries(others).filter(([, value]) => value !== null);
  return (
    <>
      {objects(locations).map((each, at) => <div key={at} class="place">{placeOf(each)}</div>)}
      {diffsOf(call).map((each, at) => <DiffView key={at} source={each} />)}
      {rawInput !== undefined && rawInput !== null && <Code text={commandOf(rawInput)} />}
      {call.content.filter(({type}) => type !== 'diff').map((each, at) => <Code key={at} text={textIn(each)} />)}
      {rest.length > 0 && <Code text={commandOf(Object.fromEntries(rest))} />}
      {leftOut !== undefined && <p class="error-text">{`Too long to be shown, and left out: ${visible(pretty(leftOut))}`}</p>}
    </>);
}

// As it stands there: of markdown there is more than is seen.
function textIn(value: JsonObject): string {
  const {content} = value;
  return value.type === 'content' && isObject(content) && typeof content.text === 'string' && Object.keys(content).length === 2
    ? content.text : pretty(value);
}

function commandOf(value: Json): string {
  if (typeof value === 'string') return value;
  if (isObject(value)) {
    const {command, ...more} = value;
    if (typeof command === 'string' && Object.keys(more).length === 0) return command;
  }
  return pretty(value);
}
