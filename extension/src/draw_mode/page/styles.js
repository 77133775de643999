'use strict';
/** The styles of the overlay. The first rule keeps all styles of the page out. */
{
  const CSS_TEXT = `
:host {
  all: initial !important;
  position: fixed !important; inset: 0 !important; margin: 0 !important;
  width: auto !important; height: auto !important; z-index: 2147483647 !important;
  display: block !important; contain: strict !important; color-scheme: light dark !important;
}
:host([data-away]) { visibility: hidden !important; }
.stage {
  --mark: #e5302f; --paper: #ffffff; --ink: #1c1f24; --soft: #5b6470; --line: #d5dae1;
  --press: #e8edf5; --main: #1f5fd0;
  position: absolute; inset: 0; overflow: hidden; cursor: crosshair;
  touch-action: pinch-zoom;
  font: 14px/1.35 system-ui, sans-serif; color: var(--ink); user-select: none;
}
@media (prefers-color-scheme: dark) {
  .stage {
    --paper: #23272e; --ink: #eef1f5; --soft: #a7b0bc; --line: #434a55; --press: #38404c;
    --main: #3f7df0;
  }
}
.drawing, .drawing svg, .labels { position: absolute; inset: 0; pointer-events: none; }
.drawing svg { width: 100%; height: 100%; overflow: visible; }
rect, line { fill: none; stroke-linecap: round; stroke-linejoin: round; }
.casing { stroke: #fff; stroke-opacity: 0.9; stroke-width: 6; }
.ink { stroke: var(--mark); stroke-width: 3; }
.head { fill: var(--mark); stroke: #fff; stroke-width: 1.5; paint-order: stroke; }
.label {
  position: absolute; display: flex; align-items: flex-start; max-width: 260px;
  translate: -11px -11px;
}
.label b {
  flex: none; min-width: 22px; box-sizing: border-box; padding: 0 5px; border-radius: 11px;
  background: var(--mark); color: #fff; font: 600 12px/22px system-ui, sans-serif;
  text-align: center; box-shadow: 0 0 0 2px #fff; z-index: 1;
}
.label span {
  margin-left: -11px; padding: 2px 9px 2px 18px; border-radius: 11px;
  background: #fff; color: #1c1f24; font-size: 13px; line-height: 18px;
  box-shadow: 0 1px 4px rgb(0 0 0 / 0.35);
  display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden;
  white-space: pre-wrap; overflow-wrap: anywhere;
}
.label.rectangle span, .label.arrow span { translate: 0 -2px; }
.bar, .note {
  position: absolute; background: var(--paper); border: 1px solid var(--line);
  border-radius: 12px; box-shadow: 0 6px 28px rgb(0 0 0 / 0.28);
}
.bar {
  top: 12px; left: 50%; translate: -50% 0; width: max-content; max-width: calc(100% - 16px);
  box-sizing: border-box; padding: 6px; cursor: move;
}
.drafting .bar, .drafting .note { pointer-events: none; opacity: 0.35; }
.message {
  margin: 4px 8px 8px; width: 0; min-width: calc(100% - 16px); max-height: 6em; overflow: auto;
  font-weight: 600;
  white-space: pre-wrap; overflow-wrap: anywhere;
}
.message:empty, .state:empty { display: none; }
.state {
  margin: 5px 8px 2px; width: 0; min-width: calc(100% - 16px); color: var(--soft);
  font-size: 13px;
}
.row { display: flex; flex-wrap: wrap; align-items: center; gap: 2px; }
.row i { width: 1px; height: 20px; margin: 0 5px; background: var(--line); }
button {
  all: unset; display: inline-flex; align-items: center; gap: 6px; padding: 6px 10px;
  border-radius: 8px; cursor: pointer; white-space: nowrap;
}
button svg {
  width: 18px; height: 18px; fill: none; stroke: currentColor; stroke-width: 1.8;
  stroke-linecap: round; stroke-linejoin: round;
}
button svg * { stroke-width: 1.8; }
button:hover { background: var(--press); }
button[aria-pressed="true"] { background: var(--press); color: var(--main); }
button.main { background: var(--main); color: #fff; font-weight: 600; margin-left: 2px; }
button:focus-visible, textarea:focus-visible {
  outline: 2px solid var(--main); outline-offset: 1px;
}
button:disabled { opacity: 0.4; cursor: default; background: none; }
button.main:disabled { background: var(--main); }
.note { width: 280px; padding: 6px; }
.note[hidden] { display: none; }
textarea {
  all: unset; display: block; box-sizing: border-box; width: 100%; min-height: 3.4em;
  max-height: 12em; overflow: auto; padding: 5px 7px; border-radius: 7px; cursor: text;
  white-space: pre-wrap; overflow-wrap: anywhere; user-select: text; font: inherit;
}
textarea::placeholder { color: var(--soft); }
@media (max-width: 560px) {
  button:not(.main) svg + span { display: none; }
}
`;

  function overlayStyles() {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(CSS_TEXT);
    return sheet;
  }

  Object.assign(callslipDraw, { overlayStyles });
}
