import { fileUnavailable } from './errors.js';
import { GatewayRefused } from './gateway_client.js';

/**
 * The files that agents have stored at the gateway for an upload. `readFrom(gateway)` sets the gateway,
 * each time another one is served.
 */
export function createGatewayFiles() {
  let from;

  return {
    readFrom(gateway) {
      from = gateway;
    },

    /** A part of a file from `offset` on: `{base64, size}`, where `size` is that of the whole file. */
    async read(id, offset, signal) {
      try {
        return await from.file(id, offset, signal);
      } catch (error) {
        if (signal.aborted) return {};
        if (error instanceof GatewayRefused) {
          throw fileUnavailable('The gateway does not have the file any more.');
        }
        throw fileUnavailable(`The gateway did not hand the file out: ${error.message}`);
      }
    },
  };
}
