/** The options page: two fields over chrome.storage.local. The service worker notices changes. */
import { DEFAULT_SERVER_URL, isServerUrl } from './src/settings.js';

const form = document.querySelector('form');
const output = document.querySelector('output');
const { serverUrl, token } = await chrome.storage.local.get(['serverUrl', 'token']);
form.serverUrl.placeholder = DEFAULT_SERVER_URL;
form.serverUrl.value = serverUrl ?? '';
form.token.value = token ?? '';

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const url = form.serverUrl.value.trim();
  if (url && !isServerUrl(url)) {
    output.value = 'The address must begin with http:// or https://.';
    return;
  }
  await chrome.storage.local.set({ serverUrl: url, token: form.token.value.trim() });
  output.value = 'Saved.';
});
