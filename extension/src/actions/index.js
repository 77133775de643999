import { back } from './back.js';
import { click } from './click.js';
import { closeTab } from './close_tab.js';
import { readConsole } from './console.js';
import { drawMode } from './draw_mode.js';
import { executeJs } from './execute_js.js';
import { forward } from './forward.js';
import { getPage } from './get_page.js';
import { hover } from './hover.js';
import { listTabs } from './list_tabs.js';
import { navigate } from './navigate.js';
import { readNetwork } from './network.js';
import { openTab } from './open_tab.js';
import { press } from './press.js';
import { query } from './query.js';
import { reload } from './reload.js';
import { screenshot } from './screenshot.js';
import { scroll } from './scroll.js';
import { select } from './select.js';
import { type } from './type.js';
import { waitFor } from './wait_for.js';

/** The actions by the names that commands use. */
export const actions = {
  execute_js: executeJs,
  navigate,
  back,
  forward,
  reload,
  click,
  type,
  select,
  scroll,
  press,
  hover,
  wait_for: waitFor,
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
