/**
 * Runs among the page's own scripts, while something is dragged. The browser lets a page capture the
 * pointer only while a real button is down, so this says that it did, and tells the extension's own
 * world which element it is by an event with a name that only both know. The event of that name with
 * `-end` puts all back, and so does time, where nobody is left to send it.
 */
export function armCapture(eventName) {
  const names = ['setPointerCapture', 'releasePointerCapture', 'hasPointerCapture'];
  const own = names.map((name) => Element.prototype[name]);
  let captured = null;
  const tell = (element) => element.dispatchEvent(new Event(eventName, { bubbles: true, composed: true }));
  const stand = {
    setPointerCapture() {
      captured = this;
      tell(this);
    },
    releasePointerCapture() {
      if (captured !== this) return;
      captured = null;
      document.dispatchEvent(new Event(eventName));
    },
    hasPointerCapture() {
      return captured === this;
    },
  };
  const restore = () => {
    clearTimeout(timer);
    removeEventListener(`${eventName}-end`, restore);
    names.forEach((name, place) => {
      if (Element.prototype[name] === stand[name]) Element.prototype[name] = own[place];
    });
  };
  Object.assign(Element.prototype, stand);
  addEventListener(`${eventName}-end`, restore);
  const timer = setTimeout(restore, 15_000);
}
