/**
 * Runs among the page's own scripts, while something is dragged. The browser lets a page capture the
 * pointer only while a real button is down, so this says that it did, and tells the extension's own
 * world which element it is by an event with a name that only both know. The event of that name with
 * `-end` puts all back, and so does time, where nobody is left to send it. What the page replaces
 * meanwhile is no matter; where Element or its events are gone nobody captures a pointer.
 */
export function armCapture(eventName) {
  const { prototype } = Element;
  const { dispatchEvent } = prototype;
  const { Event: Message, setTimeout: later, clearTimeout: never } = globalThis;
  const { addEventListener: listen, removeEventListener: unlisten } = globalThis;
  const { apply } = Reflect;
  let captured = null;
  const tell = (target, options) => apply(dispatchEvent, target, [new Message(eventName, options)]);
  const stand = {
    __proto__: null,
    setPointerCapture() {
      captured = this;
      tell(this, { bubbles: true, composed: true });
    },
    releasePointerCapture() {
      if (captured !== this) return;
      captured = null;
      tell(document);
    },
    hasPointerCapture() {
      return captured === this;
    },
  };
  const own = { __proto__: null };
  const restore = () => {
    never(timer);
    apply(unlisten, globalThis, [`${eventName}-end`, restore]);
    for (const name in stand) if (prototype[name] === stand[name]) prototype[name] = own[name];
  };
  for (const name in stand) {
    own[name] = prototype[name];
    prototype[name] = stand[name];
  }
  apply(listen, globalThis, [`${eventName}-end`, restore]);
  const timer = later(restore, 15_000);
}
