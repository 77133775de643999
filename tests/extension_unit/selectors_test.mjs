import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import '../../extension/src/page/selectors.js';

globalThis.CSS ??= { escape: (text) => text };

const { selectorOf } = callslipSelectors;

/** A node of a page that is only a tree; attributes as in HTML. */
function node(localName, attributes = {}, ...children) {
  const made = {
    localName,
    children,
    parentElement: null,
    classList: (attributes.class ?? '').split(' ').filter(Boolean),
    getAttribute: (name) => attributes[name] ?? null,
  };
  for (const child of children) child.parentElement = made;
  return made;
}

function everything(root) {
  return [root, ...root.children.flatMap(everything)];
}

/** Understands the selectors of selectorOf: one compound selector, and children of children. */
function matcher(root) {
  const fits = (element, step) => {
    const [, tag] = step.match(/^([a-z0-9]*)/);
    if (tag && element.localName !== tag) return false;
    const [, id] = step.match(/#([\w-]+)/) ?? [];
    const [, name] = step.match(/^[a-z0-9]+\.([\w-]+)/) ?? [];
    const [, attribute, value] = step.match(/\[([\w-]+)="(.*)"\]/) ?? [];
    const [, nth] = step.match(/:nth-of-type\((\d+)\)/) ?? [];
    const alike = element.parentElement?.children.filter((each) => each.localName === tag) ?? [];
    return (!id || element.getAttribute('id') === id)
      && (!name || element.classList.includes(name))
      && (!attribute || element.getAttribute(attribute) === value)
      && (!nth || alike.indexOf(element) === nth - 1);
  };
  return (selector) => {
    const steps = selector.split(' > ').reverse();
    return everything(root).filter((element) => {
      let at = element;
      return steps.every((step, index) => {
        if (index > 0) at = at?.parentElement;
        return at && fits(at, step);
      });
    });
  };
}

function selectorIn(root, element) {
  return selectorOf(element, matcher(root));
}

describe('the selector of an element', () => {
  const cases = [
    ['an id', node('div', { id: 'cart' }), '#cart'],
    ['a test id instead of a generated id', node('a', { id: 'r83921', 'data-testid': 'x' }),
      'a[data-testid="x"]'],
    ['a distinctive attribute', node('input', { name: 'email' }), 'input[name="email"]'],
    ['a class that is a word', node('div', { class: 'css-1x7a product-card' }), 'div.product-card'],
    ['the tag name of a landmark', node('main'), 'main'],
    ['the path if nothing else fits', node('div', { class: 'sc-a1b2c3' }), 'html > body > div'],
  ];
  for (const [what, element, selector] of cases) {
    test(`uses ${what}`, () => {
      const root = node('html', {}, node('body', {}, element));
      assert.equal(selectorIn(root, element), selector);
    });
  }

  test('is the path from the nearest identifiable ancestor', () => {
    const item = node('li');
    const list = node('ul', {}, node('li'), item);
    const root = node('html', {}, node('body', {}, node('div', { id: 'menu' }, list)));
    assert.equal(selectorIn(root, item), '#menu > ul > li:nth-of-type(2)');
  });

  test('uses no name that another element shares', () => {
    const second = node('button', { name: 'buy', class: 'main' });
    const root = node('html', {}, node('body', {},
      node('button', { name: 'buy', class: 'main' }), second));
    assert.equal(selectorIn(root, second), 'html > body > button:nth-of-type(2)');
  });

  test('matches only its element, for every element of a page', () => {
    const row = () => node('tr', {}, node('td', { class: 'name' }), node('td', {}, node('a')));
    const table = () => node('table', {}, node('tbody', {}, row(), row()));
    const root = node('html', {}, node('head', {}, node('title')),
      node('body', {}, node('header', {}, node('h1')), table(), node('div', { id: 'x' }, table())));
    for (const element of everything(root)) {
      assert.deepEqual(matcher(root)(selectorIn(root, element)), [element]);
    }
  });

  test('is undefined for an element outside the document', () => {
    const root = node('html', {}, node('body'));
    assert.equal(selectorIn(root, node('div')), undefined);
  });
});
