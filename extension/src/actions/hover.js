import { checkPlace, doneTo, findPlace } from './click.js';

/** Moves the mouse, as far as the page can detect, onto an element or to a point. */
export const hover = {
  reported: true,

  check: checkPlace,

  async run(setting) {
    const { tab, params: { selector }, tools } = setting;
    const target = await findPlace(setting);
    const { x, y } = target;
    const { url, data } = await tools.targets.act(tab, target, 'mouse.hover', [{ x, y }]);
    const { said, tag, text } = data;
    return { url, data: { selector, tag, text, done: doneTo('hovered over', said, target, selector) } };
  },
};
