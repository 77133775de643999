import assert from 'node:assert/strict';
import {test} from 'node:test';
import {failedShare, keptSamples, rated, ratesOf, recent, sized, sparkPath, withSample, type Sample} from '../src/overview/series.ts';

const sample = (at: number, registered: number, completed = 0, failed = 0): Sample =>
  ({at, queued: 0, registered, completed, failed});

test('rates are growth each second, whenever the samples came', () => {
  assert.deepEqual(ratesOf([sample(0, 10), sample(1000, 22), sample(3000, 26)], 'registered'), [12, 2]);
  assert.deepEqual(ratesOf([sample(0, 10)], 'registered'), []);
});

test('a total that begins anew is no rate', () => {
  assert.deepEqual(ratesOf([sample(0, 500), sample(1000, 3), sample(2000, 5)], 'registered'), [0, 2]);
});

test('the share of failures', () => {
  assert.equal(failedShare([sample(0, 0, 10, 5), sample(1000, 0, 19, 6)]), 0.1);
  assert.equal(failedShare([sample(0, 0, 10, 5), sample(1000, 0, 10, 5)]), null);
  assert.equal(failedShare([]), null);
  assert.equal(failedShare([sample(0, 0, 10, 5), sample(1000, 0, 0, 0), sample(2000, 0, 1, 1)]), 0.5);
});

test('two minutes are kept', () => {
  let samples: Sample[] = [];
  for (let at = 0; at < keptSamples + 7; at++) samples = withSample(samples, sample(0, at), at);
  assert.deepEqual([samples.length, samples[0]!.registered, samples.at(-1)!.at], [keptSamples, 7, keptSamples + 6]);
});

test('numbers in words', () => {
  assert.deepEqual([0, 512, 1536, 12 * 1024 * 1024, 5e12].map(sized), ['0 B', '512 B', '1.5 KB', '12 MB', '4657 GB']);
  assert.deepEqual([0, 0.25, 9.96, 12.4].map(rated), ['0/s', '0.3/s', '10/s', '12/s']);
  assert.equal(recent([9, 1, 1, 1, 1, 1]), 1);
  assert.equal(recent([]), 0);
});

test('a line fills its box from the right', () => {
  assert.equal(sparkPath([1], 120), '');
  assert.equal(sparkPath([0, 10], 11), 'M90.0 23.0L100.0 1.0');
  assert.equal(sparkPath([0, 0], 2), 'M0.0 23.0L100.0 23.0');
});
