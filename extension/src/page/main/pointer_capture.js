/**
 * Runs among the page's own scripts during a drag. The browser lets a page capture the pointer only while a
 * real button is pressed, so this pretends that the capture succeeded, and reports the capturing element to
 * the extension's own world by an event whose name only the two know. The event of that name with `-end`
 * restores the original methods, and so does a timer, in case nothing sends it. Replacements that the page
 * makes meanwhile do not matter; if Element or its events are missing, the page cannot capture the pointer.
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
