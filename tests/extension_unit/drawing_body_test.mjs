import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { drawingBody } from '../../extension/src/draw_mode/drawing_body.js';

const SETTINGS = { workerId: 'w-1', target: 'browser' };
const RECT = { x: 1, y: 2, width: 3, height: 4 };
const MARK = { id: 'a1', kind: 'rectangle', note: 'wider', rect: RECT };
const VIEWPORT = { width: 800, height: 600, scroll_x: 0, scroll_y: 0, device_pixel_ratio: 1 };

function drawing(pictures) {
  return {
    id: 'd-1',
    tabId: 7,
    state: 'sending',
    url: 'http://page/',
    title: 'Page',
    session: 'review',
    correlationIds: ['ann_1'],
    annotations: [MARK],
    viewport: VIEWPORT,
    pictures,
  };
}

/** The body as it is sent. */
function sent(pictures, limitBytes) {
  return JSON.parse(JSON.stringify(drawingBody(drawing(pictures), SETTINGS, limitBytes)));
}

const png = (base64) => ({ mime_type: 'image/png', base64 });

describe('the body of a drawing', () => {
  test('contains all fields for the gateway', () => {
    assert.deepEqual(sent({ screenshot: 'SHOT', crops: { a1: 'CROP' } }), {
      drawing_id: 'd-1',
      tab_id: 7,
      url: 'http://page/',
      title: 'Page',
      session: 'review',
      correlation_ids: ['ann_1'],
      worker: 'w-1',
      target: 'browser',
      annotations: [{ ...MARK, crop: png('CROP') }],
      viewport: VIEWPORT,
      screenshot: png('SHOT'),
    });
  });

  test('shows which pictures are missing', () => {
    const body = sent(undefined);
    assert.deepEqual(body.annotations, [MARK]);
    assert.equal(body.crops_left_out, true);
    assert.equal(body.screenshot_left_out, true);
  });

  test('reports no omitted crops for an empty drawing', () => {
    const empty = { ...drawing({ screenshot: 'S', crops: {} }), annotations: [] };
    const body = drawingBody(empty, SETTINGS);
    assert.deepEqual(body.annotations, []);
    assert.equal(body.crops_left_out, undefined);
  });

  test('omits the crops first, and says so', () => {
    const body = sent({ screenshot: 'S'.repeat(1_000), crops: { a1: 'C'.repeat(1_000) } }, 2_000);
    assert.deepEqual(body.annotations, [MARK]);
    assert.equal(body.crops_left_out, true);
    assert.equal(body.screenshot.base64.length, 1_000);
    assert.equal(body.screenshot_left_out, undefined);
  });

  test('omits the screenshot too if that is not enough', () => {
    const body = sent({ screenshot: 'S'.repeat(2_000), crops: { a1: 'C'.repeat(1_000) } }, 2_000);
    assert.deepEqual(body.annotations, [MARK]);
    assert.equal(body.screenshot, undefined);
    assert.equal(body.screenshot_left_out, true);
    assert.ok(JSON.stringify(body).length <= 2_000);
  });
});
