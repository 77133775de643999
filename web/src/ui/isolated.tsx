import type {ComponentChildren} from 'preact';
import {visible} from './visible.ts';

// Letters that are written from right to left, with what is set on them.
const rightToLeft = /((?:[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFE\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]\p{M}*)+)/u;

// As visible(), with each word that is written from right to left by itself: signs and numbers beside it
// stay where they are in the text.
export const isolated = (text: string): ComponentChildren =>
  visible(text).split(rightToLeft).map((each, at) => (at % 2 > 0 ? <bdi key={at}>{each}</bdi> : each));
