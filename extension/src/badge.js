/** The badge and title of the extension icon for each state of the connection. */
const BADGES = {
  connecting: { text: '…', color: '#6b7280', title: 'Callslip: connecting' },
  connected: { text: 'on', color: '#15803d', title: 'Callslip: connected' },
  disconnected: { text: '!', color: '#b91c1c', title: 'Callslip: gateway not responding' },
  spoofed: { text: '!!', color: '#b91c1c', title: 'Callslip: gateway not verified' },
  unpaired: { text: '?', color: '#b45309', title: 'Callslip: not paired with a gateway' },
  paused: { text: 'II', color: '#b45309', title: 'Callslip: paused' },
};

/** Shows the state on the icon; `action` is chrome.action. */
export async function showBadge(action, connection) {
  const { text, color, title } = BADGES[connection];
  await Promise.all([
    action.setBadgeText({ text }),
    action.setBadgeBackgroundColor({ color }),
    action.setBadgeTextColor({ color: '#ffffff' }),
    action.setTitle({ title }),
  ]);
}
