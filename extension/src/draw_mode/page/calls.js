/**
 * Functions that the service worker runs in the page. Each is sent there as text, so it may use nothing
 * from outside itself except `callslipDraw`, which the files of this folder create.
 */

/** Opens the board, or passes the agent's message to the open one. */
export function openBoardHere(given) {
  const url = location.href;
  const { board } = callslipDraw;
  if (board?.id === given.id) {
    if (given.message) board.say(given.message);
    return { url, data: { already: true } };
  }
  board?.close();
  const send = async (what, details) => {
    const message = { about: 'drawing', what, id: given.id, ...details };
    const { error } = await chrome.runtime.sendMessage(message);
    if (error) throw new Error(error);
  };
  callslipDraw.board = callslipDraw.openBoard(given, send);
  return { url, data: { already: false, ...callslipDraw.board.state() } };
}

/** True if the board of that drawing is open. */
export function boardIsOpenHere(id) {
  return { url: location.href, data: Object.hasOwn(globalThis, 'callslipDraw') && callslipDraw.board?.id === id };
}

/** Closes the board of that drawing, if it is open. */
export function closeBoardHere(id) {
  const board = Object.hasOwn(globalThis, 'callslipDraw') ? callslipDraw.board : undefined;
  if (board?.id === id) board.close();
  return { url: location.href };
}

/** Prepares the page for a picture; returns what the picture will show. */
export async function holdBoardHere(id, markId) {
  const board = Object.hasOwn(globalThis, 'callslipDraw') ? callslipDraw.board : undefined;
  if (board?.id !== id) throw new Error('The drawing no longer exists.');
  return { url: location.href, data: await board.hold(markId) };
}
