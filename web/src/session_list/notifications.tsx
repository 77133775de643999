import {isNotifying, refused, setNotifying} from './notify.ts';

const reasons = {
  '': '',
  missing: 'Notifications are not available here: they require https, or a gateway on this machine.',
  denied: 'The browser blocks notifications. Allow them for this address in the browser settings, then turn this on again.',
  failed: 'This browser does not support notifications.',
};

// The switch for notifications, and why it is unavailable.
export function Notifications() {
  const why = refused();
  return (
    <>
      <label class="check">
        <input type="checkbox" checked={isNotifying()} disabled={why === 'missing'}
          onChange={event => {
            const {currentTarget: box} = event;
            // It is on only after the browser has granted permission.
            void setNotifying(box.checked).then(() => { box.checked = isNotifying(); });
          }} />
        Notify me about permission requests and ended turns while no Callslip tab is visible
      </label>
      <p class="hint" role="status">{reasons[why]}</p>
    </>);
}
