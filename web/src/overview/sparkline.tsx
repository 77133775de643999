import {keptSamples, sparkPath} from './series.ts';

// How a number was in the last two minutes. The number itself stands beside it, so that the line says
// nothing to a screen reader.
export function Sparkline({values}: {values: readonly number[]}) {
  const line = sparkPath(values, keptSamples);
  return (
    <svg class="sparkline" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
      {line && <path class="spark-area" d={`${line}L100 24L${(100 - ((values.length - 1) * 100) / (keptSamples - 1)).toFixed(1)} 24z`} />}
      {line && <path class="spark-line" d={line} />}
    </svg>);
}
