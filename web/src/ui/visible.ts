// An agent's text with nothing hidden, for decisions based on it: invisible characters, and those that change the order
// of the text around them, are shown as numbers, such as \u{202E}. Line ends and tabs stay, and so do common emoji; tag
// characters after an emoji, which can encode hidden text, do not.
const emoji = String.raw`\p{Extended_Pictographic}(?:\uFE0F|\p{EMod})?`;
const hidden = new RegExp(
  String.raw`(${emoji}(?:\u200D${emoji})*|[#*\d]\uFE0F?\u20E3)` +
  String.raw`|(?!\r?\n|\t)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]`, 'gu');

export const visible = (text: string): string => text.replace(hidden, (each, shown: string | undefined) =>
  shown ?? `\\u{${each.codePointAt(0)!.toString(16).toUpperCase()}}`);
