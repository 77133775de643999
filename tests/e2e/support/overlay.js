/**
 * The visible parts of draw mode's overlay. Its shadow root is closed to pages and their tests, so
 * this reads the browser's accessibility tree.
 */
export class Overlay {
  #page;
  #session;

  static async of(page) {
    const overlay = new Overlay();
    overlay.#page = page;
    overlay.#session = await page.context().newCDPSession(page);
    return overlay;
  }

  /** All visible parts, as `{role, name, node}`. */
  async parts() {
    const { nodes } = await this.#session.send('Accessibility.getFullAXTree');
    return nodes
      .filter(({ ignored }) => !ignored)
      .map(({ role, name, backendDOMNodeId: node }) =>
        ({ role: role?.value, name: name?.value ?? '', node }));
  }

  async texts() {
    return (await this.parts()).filter(({ role }) => role === 'StaticText').map(({ name }) => name);
  }

  /** Waits until the tool bar is visible. */
  async shown() {
    await this.#until((parts) => parts.some(({ role }) => role === 'toolbar'));
  }

  /** Waits until a text is visible. */
  async says(text) {
    await this.#until((parts) => parts.some(({ name }) => name === text));
  }

  async #until(seen) {
    while (!seen(await this.parts())) {
      await this.#page.evaluate(() => new Promise(requestAnimationFrame));
    }
  }

  /** Waits until draw mode has ended. */
  async gone() {
    await this.#page.waitForFunction(() => !document.querySelector('callslip-draw-mode'));
  }

  /** The middle of a part of the overlay. */
  async place(role, name) {
    const part = (await this.parts()).find((each) => each.role === role && name.test(each.name));
    if (!part) throw new Error(`No ${role} is named ${name}.`);
    const { model } = await this.#session.send('DOM.getBoxModel', { backendNodeId: part.node });
    const [left, top, , , right, bottom] = model.border;
    return { x: (left + right) / 2, y: (top + bottom) / 2 };
  }

  /** Presses a button of the tool bar with the mouse. */
  async press(name) {
    const { x, y } = await this.place('button', name);
    await this.#page.mouse.click(x, y);
  }

  /** Drags the mouse in a few steps, as a hand does. */
  async drag(from, to) {
    const { mouse } = this.#page;
    await mouse.move(from.x, from.y);
    await mouse.down();
    await mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2, { steps: 3 });
    await mouse.move(to.x, to.y, { steps: 2 });
    await mouse.up();
  }

  /** Types a note for the latest mark. */
  async note(text) {
    if (text) await this.#page.keyboard.type(text);
    await this.#page.keyboard.press('Enter');
  }
}
