import * as dragging from './oracles/dragging.js';
import * as forms from './oracles/forms.js';
import * as lists from './oracles/lists.js';
import * as pictures from './oracles/pictures.js';
import * as sites from './oracles/sites.js';
import * as texts from './oracles/texts.js';

/** For a task with a graded reward: this much of it counts as solved. */
const WELL = 0.5;

const MAIN = {
  'bisect-angle': { solve: pictures.bisectAngle, least: WELL },
  'book-flight': { solve: sites.bookFlight },
  'choose-date': { solve: forms.chooseDate },
  'click-checkboxes-large': { solve: forms.clickCheckboxes, calls: 4 },
  'click-menu-2': { solve: lists.clickMenu },
  'click-pie': { solve: pictures.clickPie },
  'click-scroll-list': { solve: lists.clickScrollList },
  'click-tab-2-hard': { solve: lists.clickTab },
  'copy-paste-2': { solve: texts.copyPaste },
  'drag-box': { solve: dragging.dragBox },
  'drag-shapes': { solve: pictures.dragShapes },
  'drag-sort-numbers': { solve: dragging.dragSortNumbers },
  'draw-line': { solve: pictures.drawLine, least: WELL },
  'email-inbox-forward': { solve: sites.emailInbox },
  'enter-time': { solve: forms.enterTime },
  'form-sequence-3': { solve: forms.formSequence },
  'highlight-text': { solve: texts.highlightText },
  'login-user-popup': { solve: forms.loginUser },
  'navigate-tree': { solve: lists.navigateTree },
  'social-media-some': { solve: sites.socialMedia },
  terminal: { solve: texts.terminal, calls: 6 },
  'text-editor': { solve: texts.textEditor },
  'use-autocomplete': { solve: forms.useAutocomplete },
  'use-slider': { solve: forms.useSlider, calls: 6 },
  'use-spinner': { solve: forms.useSpinner },
};

const EXTRA = {
  'drag-items': { solve: dragging.dragItems },
  'order-food': { solve: sites.orderFood },
  'phone-book': { solve: sites.phoneBook },
  'resize-textarea': { solve: dragging.resizeTextarea },
  'scroll-text-2': { solve: texts.scrollText },
  'search-engine': { solve: sites.searchEngine },
  'sign-agreement': { solve: texts.signAgreement },
};

/** The played tasks: `{name, group, solve(player), least, calls}`. */
export const TASKS = [['main', MAIN], ['extra', EXTRA]].flatMap(([group, tasks]) =>
  Object.entries(tasks).map(([name, task]) => ({ name, group, ...task })));
