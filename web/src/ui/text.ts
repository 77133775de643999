// The beginning of a text, `length` characters of UTF-16 at most, and no half of one of Unicode.
export const begin = (text: string, length: number): string =>
  text.slice(0, /[\ud800-\udbff]/.test(text[length - 1] ?? '') ? length - 1 : length);

// Its end, likewise.
export const end = (text: string, length: number): string => {
  const from = Math.max(0, text.length - length);
  return text.slice(/[\udc00-\udfff]/.test(text[from] ?? '') ? from + 1 : from);
};
