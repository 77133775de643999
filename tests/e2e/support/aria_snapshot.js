/** Playwright's list of a page: `role name` of every element that can be acted on. */

const ACTED = new Set(['button', 'link', 'textbox', 'searchbox', 'combobox', 'listbox', 'option', 'checkbox', 'radio',
  'switch', 'slider', 'spinbutton', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'tab', 'treeitem']);

/** Our roles that differ from Playwright's. */
const AS_THEIRS = {
  password: 'textbox', date: 'textbox', datetime: 'textbox', month: 'textbox', week: 'textbox', time: 'textbox',
  color: 'textbox', file: 'button',
};

/** The lines of Playwright's snapshot with a role and a name, except options of native lists. */
export function actedOnIn(snapshot) {
  const found = [];
  for (const line of snapshot.split('\n')) {
    const text = line.trim().replace(/^- '(.*?)'(:.*)?$/, (_, quoted) => `- ${quoted.replaceAll("''", "'")}`);
    const [, role, name] = /^- ([a-z]+) ("(?:[^"\\]|\\.)*")/.exec(text) ?? [];
    if (ACTED.has(role)) found.push(`${role} ${JSON.parse(name)}`);
  }
  return found;
}

/** `role name` of each ref in Playwright's terms. */
export function asTheirs({ role, name }) {
  return `${AS_THEIRS[role] ?? role} ${name}`;
}
