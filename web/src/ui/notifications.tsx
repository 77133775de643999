import {isNotifying, refused, setNotifying} from './notify.ts';

const reasons = {
  '': '',
  missing: 'This browser has none for this address: it needs https, or the address of this machine itself.',
  denied: 'The browser refuses: allow notifications of this address in its settings, and switch it on again.',
  failed: 'This browser shows none of a page.',
};

// The switch, and why it cannot be switched.
export function Notifications() {
  const why = refused();
  return (
    <>
      <label class="check">
        <input type="checkbox" checked={isNotifying()} disabled={why === 'missing'}
          onChange={event => {
            const {currentTarget: box} = event;
            // It is on once the browser has agreed.
            void setNotifying(box.checked).then(() => { box.checked = isNotifying(); });
          }} />
        Notify me of questions and of turns that end, while I do not look
      </label>
      <p class="hint" role="status">{reasons[why]}</p>
    </>);
}
