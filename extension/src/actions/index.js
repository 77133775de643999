import { back } from './back.js';
import { createBatch } from './batch.js';
import { click } from './click.js';
import { closeTab } from './close_tab.js';
import { readConsole } from './console.js';
import { drag } from './drag.js';
import { drawMode } from './draw_mode.js';
import { executeJs } from './execute_js.js';
import { find } from './find.js';
import { fill } from './fill.js';
import { forward } from './forward.js';
import { getPage } from './get_page.js';
import { hover } from './hover.js';
import { listTabs } from './list_tabs.js';
import { navigate } from './navigate.js';
import { readNetwork } from './network.js';
import { openTab } from './open_tab.js';
import { page } from './page.js';
import { press } from './press.js';
import { query } from './query.js';
import { reload } from './reload.js';
import { screenshot } from './screenshot.js';
import { scroll } from './scroll.js';
import { select } from './select.js';
import { selectText } from './select_text.js';
import { type } from './type.js';
import { upload } from './upload.js';
import { waitFor } from './wait_for.js';

/** Actions that act in a tab and can be steps of a batch. */
const steps = {
  execute_js: executeJs,
  navigate,
  back,
  forward,
  reload,
  click,
  fill,
  type,
  select,
  scroll,
  press,
  hover,
  drag,
  select_text: selectText,
  wait_for: waitFor,
};

/** The actions by the names that commands use. */
export const actions = {
  ...steps,
  batch: createBatch(steps),
  upload,
  page,
  find,
  get_page: getPage,
  query,
  screenshot,
  list_tabs: listTabs,
  open_tab: openTab,
  close_tab: closeTab,
  console: readConsole,
  network: readNetwork,
  draw_mode: drawMode,
};
