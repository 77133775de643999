/** What Playwright lists of a page: `role name` of everything that can be acted on. */

const ACTED = new Set(['button', 'link', 'textbox', 'searchbox', 'combobox', 'listbox', 'option', 'checkbox', 'radio',
  'switch', 'slider', 'spinbutton', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'tab', 'treeitem']);

/** Those of our roles for which Playwright says another one. */
const AS_THEIRS = {
  password: 'textbox', date: 'textbox', datetime: 'textbox', month: 'textbox', week: 'textbox', time: 'textbox',
  color: 'textbox', file: 'button',
};

/** The lines of Playwright's snapshot that have a role and a name, but options of native lists. */
export function actedOnIn(snapshot) {
  const found = [];
  for (const line of snapshot.split('\n')) {
    const text = line.trim().replace(/^- '(.*?)'(:.*)?$/, (_, quoted) => `- ${quoted.replaceAll("''", "'")}`);
    const [, role, name] = /^- ([a-z]+) ("(?:[^"\\]|\\.)*")/.exec(text) ?? [];
    if (ACTED.has(role)) found.push(`${role} ${JSON.parse(name)}`);
  }
  return found;
}

/** `role name` of each ref, from what the refs in the page are known as. */
export function asTheirs({ role, name }) {
  return `${AS_THEIRS[role] ?? role} ${name}`;
}
