import { click } from './click.js';
import { drawMode } from './draw_mode.js';
import { executeJs } from './execute_js.js';
import { getPage } from './get_page.js';
import { navigate } from './navigate.js';
import { screenshot } from './screenshot.js';
import { type } from './type.js';

/** The actions by the names that commands use. */
export const actions = {
  execute_js: executeJs,
  navigate,
  get_page: getPage,
  click,
  type,
  screenshot,
  draw_mode: drawMode,
};
