import type {ComponentChildren} from 'preact';
import {visible} from './visible.ts';

// Right-to-left letters with their combining marks.
const rightToLeft = /((?:[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFE\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]\p{M}*)+)/u;

// Like visible(), with each right-to-left word isolated: signs and numbers next to it keep their place in the text.
export const isolated = (text: string): ComponentChildren =>
  visible(text).split(rightToLeft).map((each, at) => (at % 2 > 0 ? <bdi key={at}>{each}</bdi> : each));
