import {Component, type ComponentChildren} from 'preact';
import {useMemo} from 'preact/hooks';
import {isAway} from '../api/http.ts';
import type {Json, JsonObject} from '../api/types.ts';
import {words} from '../session_list/groups.ts';
import type {OtherPart, Part, PlanPart, PromptPart, TextPart, ToolPart} from '../conversation/log.ts';
import {clockTime, now} from '../ui/clock.ts';
import {DiffView} from '../diff/diff_view.tsx';
import {diffsOf} from '../diff/source.ts';
import {Boundary} from '../ui/failure.tsx';
import {JsonTree} from '../ui/json_tree.tsx';
import {pretty} from '../ui/json_value.ts';
import {Code, Markdown} from '../ui/markdown.tsx';
import {begin} from '../ui/text.ts';
import {visible} from '../ui/visible.ts';
import type {Folds} from './folds.ts';
import type {SessionStore} from './store.ts';

// The views of the parts of a conversation.

const marks = {queued: '○', running: '●', completed: '✔', failed: '✖', cancelled: '⊘', pending: '○', in_progress: '●'};
const markOf = (status: string) => marks[status as keyof typeof marks] ?? '·';

interface Props {
  part: Part;
  store: SessionStore;
  position: number;
  count: number;
}

// Rendered again only if the part is a new object, see Reduction, or has moved.
export class PartView extends Component<Props> {
  override shouldComponentUpdate({part, position}: Props) {
    return part !== this.props.part || position !== this.props.position;
  }
  override render({part, store, position, count}: Props) {
    const tool = part.kind === 'tool' ? part : null;
    return (
      <article class={`part ${part.kind}`} aria-posinset={position} aria-setsize={count} tabIndex={-1}
        aria-label={labelOf(part)} data-seq={part.seq || undefined}
        data-tool-call-id={tool?.id} data-status={tool?.status}>
        <Boundary of={part} plain={() => plainOf(part)}><Body part={part} store={store} /></Boundary>
        {part.omitted ? <Rest part={part} store={store} /> : null}
      </article>);
  }
}

function Rest({part, store}: {part: Part; store: SessionStore}) {
  return (
    <button type="button" class="quiet" disabled={isAway.value} onClick={() => void store.loadWhole(...part.cut ?? [])}>
      {`Show full output (${Math.ceil((part.omitted ?? 0) / 1024)} KB more)`}
    </button>);
}

function labelOf(part: Part): string {
  switch (part.kind) {
    case 'prompt': return `You, prompt ${part.number}`;
    case 'message': return 'Agent';
    case 'thought': return 'Thought';
    case 'tool': return `${visible(part.title || part.id)}, ${part.status}`;
    case 'plan': return 'Plan';
    case 'gap': return 'Events not loaded yet';
    default: return words(part.kind === 'unknown' ? part.type : part.kind);
  }
}

// The whole part as text, used if rendering it fails.
const plainOf = (part: Part): string => ('text' in part ? part.text : textOf(part as unknown as Json));

function Body({part, store}: {part: Part; store: SessionStore}) {
  const {folds} = store;
  switch (part.kind) {
    case 'prompt': return <Prompt part={part} />;
    case 'message': return <Said part={part} />;
    case 'thought': return <Thought part={part} folds={folds} />;
    case 'tool': return <Tool part={part} folds={folds} />;
    case 'plan': return <Plan part={part} />;
    case 'gap': return <Gap store={store} />;
    default: return <Other part={part} folds={folds} />;
  }
}

const Time = ({time}: {time: string}) => <time dateTime={time}>{clockTime(time, now.peek())}</time>;

function Prompt({part}: {part: PromptPart}) {
  return (
    <>
      <header><span class="who">You</span><Time time={part.time} /></header>
      <Markdown text={part.text} />
      {part.images.map(({id, name}) => <span key={id} class="chip">{`Image: ${name || id}`}</span>)}
    </>);
}

function Said({part}: {part: TextPart}) {
  return (
    <>
      <Markdown text={part.text} />
      {part.isStreaming && <span class="caret" aria-hidden="true" />}
    </>);
}

const Gap = ({store}: {store: SessionStore}) => (
  <p class="rule">{store.isFull.value ? 'Too many events in between to load here. Go to the end and scroll up to read them.' : 'Loading events in between…'}</p>);

// A part that shows only its title until it is expanded.
function Folded({part, folds, title, children}:
{part: Part; folds: Folds; title: ComponentChildren; children: () => ComponentChildren}) {
  const isOpen = folds.isOpen(part);
  return (
    <details open={isOpen}>
      <summary onClick={event => { event.preventDefault(); folds.toggle(part); }}>{title}</summary>
      {isOpen && children()}
    </details>);
}

function Thought({part, folds}: {part: TextPart; folds: Folds}) {
  return (
    <Folded part={part} folds={folds} title={`Thought: ${begin(part.text.trim().split('\n')[0]!, 120)}`}>
      {() => <Markdown text={part.text} />}
    </Folded>);
}

const took = (part: ToolPart): string => {
  const ms = Date.parse(part.lastTime) - Date.parse(part.time);
  return ms >= 100 && part.status !== 'queued' ? `${(ms / 1_000).toFixed(1)} s` : '';
};

function Tool({part, folds}: {part: ToolPart; folds: Folds}) {
  const title = (
    <>
      <span class={`mark ${part.status}`} aria-hidden="true">{markOf(part.status)}</span>
      <span class="title">{visible(part.title || part.id)}</span>
      <span class="status">{part.status}</span>
      <span class="took">{took(part)}</span>
    </>);
  return <Folded part={part} folds={folds} title={title}>{() => <ToolBody part={part} />}</Folded>;
}

const textOf = (value: Json | undefined): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : pretty(value);

export const placeOf = ({path, line}: JsonObject): string => visible(`${textOf(path)}${line ? `:${textOf(line)}` : ''}`);

function Value({name, value}: {name: string; value: Json}) {
  return (
    <>
      <h4>{name}</h4>
      <Boundary of={value} plain={() => textOf(value)}>
        {typeof value === 'object' && value !== null ? <JsonTree label={name} value={value} /> : <Code text={textOf(value)} />}
      </Boundary>
    </>);
}

function ToolBody({part}: {part: ToolPart}) {
  const diffs = useMemo(() => diffsOf(part), [part.content, part.rawInput, part.rawOutput]);
  return (
    <div class="tool-body">
      {part.locations.map((each, at) => <div key={at} class="place">{placeOf(each)}</div>)}
      {/* A diff of truncated texts would show changes that were not made. */}
      {diffs.map((each, at) => (part.omitted
        ? <p key={at} class="hint">{`The diff of ${each.path || 'a file'} is not fully loaded.`}</p>
        : <Boundary key={at} of={each} plain={() => (each.kind === 'patch' ? each.patch : each.after)}><DiffView source={each} /></Boundary>))}
      {part.rawInput !== undefined && (diffs.length === 0 || part.content.length > 0) && <Value name="Input" value={part.rawInput} />}
      {part.content.filter(({type}) => type !== 'diff').map((each, at) => <Content key={at} value={each} />)}
      {part.rawOutput !== undefined && <Value name="Output" value={part.rawOutput} />}
      {part.decisions.map((each, at) => (
        <p key={at} class="hint">
          {`${words(textOf(each.outcome))}: ${textOf(each.selected_option) || 'none'}, by ${textOf(each.decided_by) || 'a user'}`}
        </p>))}
    </div>);
}

function Content({value}: {value: JsonObject}) {
  const inner = value.content;
  if (value.type === 'content' && typeof inner === 'object' && inner !== null && !Array.isArray(inner) && inner.type === 'text') {
    return <Markdown text={textOf(inner.text)} />;
  }
  return <Code text={textOf(value)} />;
}

function Plan({part}: {part: PlanPart}) {
  return (
    <>
      <header><span class="who">Plan</span>
        <span>{`${part.entries.filter(({status}) => status === 'completed').length} of ${part.entries.length}`}</span>
      </header>
      <ul class="plan">
        {part.entries.map(({content, status}, at) => (
          <li key={at} class={status}>
            <span aria-hidden="true">{markOf(status)}</span>{` ${content}`}<span class="sr">{`, ${words(status)}`}</span>
          </li>))}
      </ul>
    </>);
}

function Other({part, folds}: {part: OtherPart; folds: Folds}) {
  const {data} = part;
  switch (part.kind) {
    case 'error':
      return <p class="error-text"><strong>Error</strong>{` ${textOf(data.message)}`}{data.code ? ` (${textOf(data.code)})` : ''}</p>;
    case 'turn_end':
      return (
        <p class={`rule ${textOf(data.outcome)}`}>
          {`Turn ${textOf(data.outcome)}${data.reason ? `: ${words(textOf(data.reason))}` : ''}`} <Time time={part.time} />
        </p>);
    case 'session_start': {
      const [agent, place] = [textOf(data.acp_server), textOf(data.working_dir)];
      return <p class="rule">{`Session started${agent && ` · ${agent}`}${place && ` in ${place}`}`}</p>;
    }
    case 'session_end': return <p class="rule">{`Session ended${data.reason ? `: ${words(textOf(data.reason))}` : ''}`}</p>;
    case 'file':
      return <p class="place">{`${part.type === 'file_write' ? 'Wrote' : 'Read'} ${textOf(data.path)} · ${textOf(data.size)} bytes`}</p>;
    case 'permission':
      return <p class="hint">{`${visible(textOf(data.title))}: ${textOf(data.selected_option) || words(textOf(data.outcome))}, by ${textOf(data.decided_by) || 'a user'}`}</p>;
    default:
      return (
        <Folded part={part} folds={folds} title={words(part.type)}>
          {() => <JsonTree label={words(part.type)} value={data} />}
        </Folded>);
  }
}
