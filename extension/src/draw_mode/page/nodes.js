'use strict';
/**
 * Creates nodes without parsing HTML text, so that page policies do not apply and texts cannot inject
 * markup.
 */
{
  const SVG = 'http://www.w3.org/2000/svg';

  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  /** An HTML element with its attributes; children are nodes or texts. */
  function html(tag, attributes = {}, ...children) {
    return fill(document.createElement(tag), attributes, children);
  }

  function svg(tag, attributes = {}, ...children) {
    return fill(document.createElementNS(SVG, tag), attributes, children);
  }

  Object.assign(callslipDraw, { html, svg });
}
