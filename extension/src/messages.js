/**
 * Answers messages of the extension's pages, of draw mode boards and of page/relay.js to the service
 * worker. Every answer is an object; one with `error` describes the problem in a sentence.
 *
 * From the popup: `{about: 'popup', what}` with `waiting` (answers `{drawings}`), `draw`, and, with the
 * `id` of a drawing, `send` and `discard`. From a board: `{about: 'drawing', …}`. From page/relay.js:
 * `{about: 'page', …}`.
 */
export function createMessages({ drawMode, standIns, tabs }) {
  async function draw() {
    const tab = await tabs.find();
    try {
      await drawMode.start(tab);
    } catch (error) {
      throw await tabs.explain(error, tab.id);
    }
  }

  const popup = {
    waiting: async () => ({ drawings: await drawMode.waiting() }),
    draw,
    send: ({ id }) => drawMode.send(id),
    discard: ({ id }) => drawMode.forget(id),
  };

  async function answer(message, sender) {
    if (message?.about === 'drawing' && sender.tab) return drawMode.heard(message, sender.tab.id);
    if (message?.about === 'page' && sender.tab) return standIns.heard(message, sender.tab.id);
    const isOwnPage = sender.url?.startsWith(`${sender.origin}/`)
      && sender.origin?.startsWith('chrome-extension:');
    if (message?.about !== 'popup' || !isOwnPage || !Object.hasOwn(popup, message.what)) {
      throw new Error('There is no handler for this message.');
    }
    return popup[message.what](message);
  }

  /** The listener for chrome.runtime.onMessage. */
  return function listen(message, sender, respond) {
    answer(message, sender)
      .then((data) => respond({ ...data }))
      .catch((error) => respond({ error: error.message }));
    return true;
  };
}
