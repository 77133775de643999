/**
 * Reads an outline as a model does.
 */
const THING = /(?<![\w-])(e[1-9]\d*) ([a-z]+)/g;

/** All elements with a ref, in the order of the page: `{ref, role, name, rest, line}`. */
export function things(text) {
  return text.split('\n').flatMap((line) => {
    const found = [...line.matchAll(THING)];
    return found.map((match, index) => {
      const end = found[index + 1]?.index ?? line.length;
      const behind = line.slice(match.index + match[0].length, end);
      const [, name, rest] = /^(.*?)((?: \[| = | of | placeholder |\]| \||$).*)$/.exec(behind);
      return { ref: match[1], role: match[2], name: name.trim(), rest: rest.trim(), line };
    });
  });
}
