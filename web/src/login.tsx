import {useState} from 'preact/hooks';
import {logIn, loginNeeded} from './api/http.ts';
import {Failure} from './ui/failure.tsx';

// Asks for a token, once: what is kept afterwards is worth nothing elsewhere (docs/access.md).
export function Login() {
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const why = loginNeeded.value;
  return (
    <main class="login">
      <form onSubmit={event => {
        event.preventDefault();
        const form = event.currentTarget;
        const token = String(new FormData(form).get('token') ?? '').trim();
        form.reset();
        if (!token) return;
        setBusy(true);
        setError(null);
        void logIn(token).catch(setError).finally(() => setBusy(false));
      }}>
        <h1>Callslip</h1>
        <p>Log in with the token of a client, viewer or admin. It is in the gateway's token file, the last word of its line.</p>
        {why && why.code !== 'token_missing' && <p class="hint">{why.message}</p>}
        {error !== null && <Failure error={error} />}
        <label>Token
          <input name="token" type="password" autocomplete="current-password" required ref={node => node?.focus()} />
        </label>
        <button type="submit" class="primary" disabled={isBusy}>Log in</button>
      </form>
    </main>);
}
