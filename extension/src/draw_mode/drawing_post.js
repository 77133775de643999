import { GatewayRefused } from '../gateway_client.js';
import { createBackoff, pause } from '../waiting.js';
import { drawingBody } from './drawing_body.js';

/**
 * Delivers finished drawings to one gateway, until the signal is aborted. A drawing is a person's work: it
 * is retried as long as the gateway is unreachable, and kept if the gateway rejects it.
 */
export function createDrawingPost({ gateway, settings, drawings, random, log, signal }) {
  const underWay = new Set();

  async function offer(drawing) {
    const { id } = drawing;
    const backoff = createBackoff(random);
    const body = drawingBody(drawing, settings);
    // The person may discard it meanwhile.
    while (!signal.aborted && drawings.get(id)) {
      try {
        await gateway.completeDrawing(body, signal);
        await drawings.remove(id);
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof GatewayRefused) {
          log(`A drawing was refused: ${error.message}`);
          await drawings.change(id, { state: 'refused', error: error.message });
          return;
        }
        const waitMs = backoff.nextMs();
        log(`A drawing waits ${Math.round(waitMs)} ms to be posted again: ${error.message}`);
        await pause(waitMs, signal);
      }
    }
  }

  return {
    /** Resolves once the drawing has been posted or rejected, or the signal was aborted. */
    async deliver(drawing) {
      if (underWay.has(drawing.id)) return;
      underWay.add(drawing.id);
      try {
        await offer(drawing);
      } finally {
        underWay.delete(drawing.id);
      }
    },
  };
}
