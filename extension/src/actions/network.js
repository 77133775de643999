import { LOG_ENTRIES, NETWORK_ENTRIES } from '../limits.js';
import { optionalInteger, optionalNonEmptyText } from '../params.js';

/** Answers the requests that the tab made lately. */
export const readNetwork = {
  readsOnly: true,

  check(params) {
    optionalInteger(params, 'limit', { least: 1, most: NETWORK_ENTRIES });
    optionalNonEmptyText(params, 'url_contains');
  },

  async run({ tab, params, tools: { network } }) {
    const { limit, url_contains: part } = params;
    return { url: tab.url, data: network.recent(tab.id, limit ?? LOG_ENTRIES, part ?? '') };
  },
};
