// The beginning of a text: at most `length` UTF-16 units, without splitting a surrogate pair.
export const begin = (text: string, length: number): string =>
  text.slice(0, /[\ud800-\udbff]/.test(text[length - 1] ?? '') ? length - 1 : length);

// The end of a text, likewise.
export const end = (text: string, length: number): string => {
  const from = Math.max(0, text.length - length);
  return text.slice(/[\udc00-\udfff]/.test(text[from] ?? '') ? from + 1 : from);
};
