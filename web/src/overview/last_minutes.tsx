// The activity of the tracker in the last 15 minutes, as charts and as a table.
import {useMemo, useState} from 'preact/hooks';
import {clockTime} from '../ui/clock.ts';
import {Failure} from '../ui/failure.tsx';
import type {Polled} from '../ui/poll.ts';
import {Chart, Fills, type ChartProps} from './chart.tsx';
import {causeWords, eachSecond, failuresOf, inUnit, pointsOf, type History, type HistorySample} from './history.ts';

type Latency = 'delivery_p50_ms' | 'delivery_p95_ms' | 'completion_p50_ms' | 'completion_p95_ms';
type Drawn = Pick<ChartProps, 'title' | 'unit' | 'points' | 'series' | 'isBars' | 'nothing'>;

function chartsOf(samples: readonly HistorySample[]): Drawn[] {
  const points = pointsOf(samples);
  const latency = (name: Latency) => samples.map(each => each[name] ?? null);
  const failures = failuresOf(samples);
  return [
    {title: 'Commands per second', unit: 'rate', points, series: [
      {name: 'submitted', values: eachSecond(samples, 'registered')},
      {name: 'completed', values: eachSecond(samples, 'completed'), look: 'dashed'}]},
    {title: 'Time to delivery', unit: 'ms', points, nothing: 'No deliveries', series: [
      {name: 'p50', values: latency('delivery_p50_ms')},
      {name: 'p95', values: latency('delivery_p95_ms'), look: 'dotted'}]},
    {title: 'Time to completion', unit: 'ms', points, nothing: 'No commands ended', series: [
      {name: 'p50', values: latency('completion_p50_ms')},
      {name: 'p95', values: latency('completion_p95_ms'), look: 'dotted'}]},
    {title: 'Failures by cause, per 30 s', unit: 'count', points: failures.points, isBars: true, nothing: 'No failures',
      series: failures.causes.map(({name, values, total}) => ({name, values, whole: total}))},
    {title: 'Queued commands', unit: 'count', points, series: [
      {name: 'waiting for a worker', values: samples.map(({queued}) => queued)}]},
    {title: 'Sessions', unit: 'count', points, series: [
      {name: 'active', values: samples.map(({sessions}) => sessions)},
      {name: 'in a turn', values: samples.map(({sessions_in_turn: inTurn}) => inTurn), look: 'dashed'}]},
  ];
}

export function LastMinutes({value, error}: Polled<History>) {
  const [at, setAt] = useState<number | null>(null);
  const [isTable, setTable] = useState(false);
  const charts = useMemo(() => chartsOf(value?.samples ?? []), [value]);
  const now = value ? Date.parse(value.time) : 0;
  return (
    <section class="last-minutes" aria-labelledby="last-minutes">
      <h2 id="last-minutes">Last 15 minutes</h2>
      {error !== null && !value && <Failure error={error} />}
      {error !== null && value && <p class="muted">As of {clockTime(value.time, Date.now())}. Newer data could not be loaded.</p>}
      {value?.samples.length === 0 && <p class="muted">The tracker has just started. The first values appear after 10 seconds.</p>}
      {value && value.samples.length > 0 && (
        <>
          <Fills />
          <div class="charts">{charts.map(each => <Chart key={each.title} {...each} now={now} at={at} onAt={setAt} />)}</div>
          <details onToggle={event => setTable(event.currentTarget.open)}>
            <summary>Show as a table</summary>
            {isTable && <Table history={value} />}
          </details>
        </>)}
    </section>);
}

const failedWords = (failed: Record<string, number>) =>
  Object.entries(failed).map(([code, count]) => `${causeWords(code)} ${count.toLocaleString('en')}`).join(', ') || '0';
const ms = (value: number | undefined) => (value === undefined ? '–' : inUnit('ms', value));

function Table({history: {time, samples}}: {history: History}) {
  const now = Date.parse(time);
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Last 15 minutes as a table">
      <table>
        <caption>Activity in each 10-second interval and state at its end, newest first</caption>
        <thead>
          <tr>
            <th scope="col">Until</th><th scope="col">Submitted</th><th scope="col">Completed</th><th scope="col">Failed, by cause</th>
            <th scope="col">Delivery p50</th><th scope="col">Delivery p95</th><th scope="col">Completion p50</th><th scope="col">Completion p95</th>
            <th scope="col">Queued</th><th scope="col">Sessions</th><th scope="col">In a turn</th>
          </tr>
        </thead>
        <tbody>
          {samples.toReversed().map(each => (
            <tr key={each.time}>
              <th scope="row">{clockTime(each.time, now)}</th><td>{each.registered.toLocaleString('en')}</td>
              <td>{each.completed.toLocaleString('en')}</td><td class="causes">{failedWords(each.failed)}</td>
              <td>{ms(each.delivery_p50_ms)}</td><td>{ms(each.delivery_p95_ms)}</td>
              <td>{ms(each.completion_p50_ms)}</td><td>{ms(each.completion_p95_ms)}</td>
              <td>{each.queued.toLocaleString('en')}</td><td>{each.sessions.toLocaleString('en')}</td><td>{each.sessions_in_turn.toLocaleString('en')}</td>
            </tr>))}
        </tbody>
      </table>
    </div>);
}
