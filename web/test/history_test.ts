import assert from 'node:assert/strict';
import {test} from 'node:test';
import {barMs, barPaths, boxWidth, causeWords, eachSecond, failedShare, failuresOf, inUnit, linePath, maxCauses, pointAt,
  pointsOf, shownMs, topOf, type HistorySample, type Point} from '../src/overview/history.ts';

const noon = Date.parse('2026-02-01T12:00:00Z');
const sample = (afterS: number, more: Partial<HistorySample> = {}): HistorySample => ({
  time: new Date(noon + afterS * 1000).toISOString(), length_ms: 10_000, registered: 0, completed: 0, failed: {},
  queued: 0, sessions: 0, sessions_in_turn: 0, ...more});
// Samples of 10 s, by their ends as fractions of the shown time.
const at = (...parts: number[]): Point[] => parts.map(part => ({from: noon - shownMs * (1 - part) - 10_000, to: noon - shownMs * (1 - part)}));
const later = (seconds: number): Point => ({from: noon - shownMs / 2 + (seconds - 10) * 1000, to: noon - shownMs / 2 + seconds * 1000});

test('counts are given per second, whatever the length of a sample', () => {
  assert.deepEqual(eachSecond([sample(10, {registered: 30}), sample(80, {registered: 70, length_ms: 70_000})], 'registered'), [3, 1]);
  assert.deepEqual(pointsOf([sample(10)]), [{from: noon, to: noon + 10_000}]);
});

test('the failure share is a fraction of all ended commands, or null without any', () => {
  assert.equal(failedShare([sample(0, {completed: 9}), sample(10, {completed: 8, failed: {other: 1, never_delivered: 2}})]), 0.15);
  assert.equal(failedShare([sample(0)]), null);
  assert.equal(failedShare([]), null);
});

test('failures are counted by cause, most frequent first, in bars at stable positions', () => {
  const samples = [sample(-10, {failed: {other: 1}}), sample(0), sample(10, {failed: {never_delivered: 2}}),
    sample(20), sample(30, {failed: {never_delivered: 3, other: 1}}), sample(90)];
  const {points, causes} = failuresOf(samples);
  assert.deepEqual(points, [0, barMs, 90_000].map(to => ({from: noon + to - barMs, to: noon + to})));
  assert.deepEqual(causes, [{name: 'never delivered', values: [0, 5, 0], total: 5}, {name: 'reported by workers', values: [1, 1, 0], total: 2}]);
  // With the next sample all but the last bar are the same.
  assert.deepEqual(failuresOf([...samples, sample(100)]).points.slice(0, 3), points);
});

test('rare causes are combined into one when there are too many', () => {
  const codes = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((code, index) => [code, 10 - index]));
  const {causes} = failuresOf([sample(0, {failed: codes}), sample(40, {failed: {f: 1}})]);
  assert.deepEqual(causes.map(({name, total}) => [name, total]), [['a', 10], ['b', 9], ['c', 8], ['3 other causes', 19]]);
  assert.deepEqual(causes.at(-1)!.values, [18, 1]);
  assert.equal(causes.length, maxCauses);
  const {d, e: _, f: __, ...few} = codes;
  assert.deepEqual(failuresOf([sample(0, {failed: {...few, d: d!}})]).causes.map(({name}) => name), ['a', 'b', 'c', 'd']);
  assert.deepEqual(failuresOf([sample(0)]).causes, []);
  assert.equal(causeWords('extension_no_response'), 'extension no response');
});

test('an axis ends at a round number', () => {
  assert.deepEqual([0, 0.2, 0.7, 3, 12, 20, 21].map(most => topOf('rate', most)), [0.5, 0.5, 1, 5, 20, 20, 50]);
  assert.deepEqual([0, 1, 3, 99, 1001].map(most => topOf('count', most)), [1, 1, 5, 100, 2000]);
  assert.deepEqual([0, 0.3, 12, 400, 2500, 50_000, 50_001, 61_000, 600_000].map(most => inUnit('ms', topOf('ms', most))),
    ['1 ms', '1 ms', '0.02 s', '0.50 s', '5.0 s', '50 s', '1 min', '2 min', '10 min']);
  assert.deepEqual([inUnit('ms', 0.2), inUnit('rate', 3), inUnit('count', 1200)], ['<1 ms', '3.0/s', '1,200']);
});

test('a line has a gap where there is no value or the tracker was away', () => {
  const points = [later(0), later(10), later(20), later(30), later(70), later(80)];
  assert.deepEqual(linePath(points, [0, 5, null, 10, 10, 0], 10, noon),
    {line: 'M150.0 100.0L153.3 50.0M173.3 0.0L176.7 100.0', dots: 'M160.0 0.0h0'});
  assert.deepEqual(linePath(points, points.map(() => null), 10, noon), {line: '', dots: ''});
  assert.deepEqual(linePath([], [], 10, noon), {line: '', dots: ''});
});

test('points older than the shown period are not drawn', () => {
  assert.deepEqual(linePath(at(-0.01, 0, 0.01), [1, 1, 1], 1, noon), {line: 'M0.0 0.0L3.0 0.0', dots: ''});
});

test('bars are stacked', () => {
  const points = [{from: noon - 60_000, to: noon - 30_000}, {from: noon - 30_000, to: noon}];
  assert.deepEqual(barPaths(points, [[2, 0], [3, 5]], 5, noon), [
    'M280.5 100.0V60.0H289.5V100.0z',
    'M280.5 60.0V0.0H289.5V60.0zM290.5 100.0V0.0H299.5V100.0z']);
  // A bar that has only begun does not extend beyond the chart.
  assert.match(barPaths([{from: noon - 10_000, to: noon + 20_000}], [[1]], 1, noon)[0]!, new RegExp(`H${boxWidth}.0V`));
});

test('the point at a time is the one that contains it, or a nearby one', () => {
  const points = [later(10), later(20), later(90)];
  assert.equal(pointAt(points, points[1]!.to), 1);
  assert.equal(pointAt(points, points[0]!.to - 4000), 0);
  assert.equal(pointAt(points, points[2]!.to + 9000), 2);
  assert.equal(pointAt(points, points[1]!.to + 30_000), -1);
  assert.equal(pointAt([], noon), -1);
});
