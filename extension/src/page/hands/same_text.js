/* global callslip */
/** Runs in each frame of a page. Tells whether a field holds a text, in whatever form the page has given it. */
callslip.sameText = (() => {
  /** Spaces, and signs by which pages and people give a text its form. */
  const FORM = /[\s\p{Cf}\p{Pd}\p{Sc}\p{Pi}\p{Pf}−%()"'.,:/_+·]/gu;

  /** A number with a sign and a fraction, which are no mere form. What has three digits or more may be thousands. */
  const NUMBER = /^\s*([-−])?\s*[\d\s]*?(\d)(?:[.,](\d{1,2}))?\s*$/;

  const bare = (text) => text.normalize('NFKC').toLowerCase().replace(/\s+/gu, '');
  const without = (text) => bare(text).replace(FORM, '');
  const numberOf = (text) => (text.trim() === '' ? NaN : Number(text.replace(',', '.')));

  function losesOfNumber(value, wanted) {
    const [, minus, last, fraction] = NUMBER.exec(wanted) ?? [];
    if (minus && !/[-−(]/.test(value)) return true;
    return Boolean(fraction) && !new RegExp(`${last}[.,٫]${fraction[0]}`).test(value);
  }

  /** `before` is what the field held: a text that is only a part of that has not got there. */
  return function sameText(value, wanted, before) {
    const [held, given] = [value, wanted].map(bare);
    if (held === given || numberOf(value) === numberOf(wanted)) return true;
    if (given === '' || losesOfNumber(value, wanted)) return false;
    const signs = without(wanted) === '';
    const [has, needs] = signs ? [held, given] : [value, wanted].map(without);
    return has === needs || (value !== before && has.includes(needs));
  };
})();
