// Text of an agent as what it is, where somebody decides by it: what nobody would see, or what changes the
// order of what is around it, is shown by its number, as \u{202E}. Lines and tabs stay, and so do emoji as
// people write them; tags after one, which can hold a text of their own, do not.
const emoji = String.raw`\p{Extended_Pictographic}(?:\uFE0F|\p{EMod})?`;
const hidden = new RegExp(
  String.raw`(${emoji}(?:\u200D${emoji})*|[#*\d]\uFE0F?\u20E3)` +
  String.raw`|(?!\r?\n|\t)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]`, 'gu');

export const visible = (text: string): string => text.replace(hidden, (each, shown: string | undefined) =>
  shown ?? `\\u{${each.codePointAt(0)!.toString(16).toUpperCase()}}`);
