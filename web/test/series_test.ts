import assert from 'node:assert/strict';
import {test} from 'node:test';
import {keptSamples, rated, rateOf, sized, withSample, type Sample} from '../src/overview/series.ts';

const sample = (at: number, registered: number, completed = 0): Sample => ({at, queued: 0, registered, completed});

test('a rate is the growth per second, whenever the samples arrived', () => {
  assert.equal(rateOf([sample(0, 10), sample(1000, 22), sample(4000, 26)], 'registered'), 4);
  assert.equal(rateOf([sample(0, 10)], 'registered'), 0);
  assert.equal(rateOf([], 'completed'), 0);
});

test('a total that restarts gives a rate of zero', () => {
  assert.equal(rateOf([sample(0, 500), sample(1000, 3)], 'registered'), 0);
});

test('samples of the last five seconds are kept', () => {
  let samples: Sample[] = [];
  for (let at = 0; at < keptSamples + 7; at++) samples = withSample(samples, sample(at, at), at);
  assert.deepEqual([samples.length, samples[0]!.registered, samples.at(-1)!.at], [keptSamples, 7, keptSamples + 6]);
});

test('sizes and rates are formatted with units', () => {
  assert.deepEqual([0, 512, 1536, 12 * 1024 * 1024, 5e12].map(sized), ['0 B', '512 B', '1.5 KB', '12 MB', '4657 GB']);
  assert.deepEqual([0, 0.25, 9.96, 12.4].map(rated), ['0/s', '0.3/s', '10/s', '12/s']);
});
