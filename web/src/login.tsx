import {useEffect, useState} from 'preact/hooks';
import {logIn, loginNeeded} from './api/http.ts';
import {finish, goToProvider, hostOf, isBack, type LoginWays, loginWays} from './api/provider.ts';
import {base, go} from './router.ts';
import {Failure} from './ui/failure.tsx';

// Requests a login, once: the key stored afterwards is useless elsewhere (docs/access.md).
export function Login() {
  const [ways, setWays] = useState<LoginWays | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(isBack());
  const why = loginNeeded.value;
  const during = (work: Promise<unknown>) => {
    setBusy(true);
    setError(null);
    void work.catch(setError).finally(() => setBusy(false));
  };
  useEffect(() => {
    // If this fails, a token may still be accepted.
    void loginWays().then(setWays).catch(() => setWays({token: true}));
    if (isBack()) during(finish().then(to => go(to, {replace: true})));
  }, []);
  const provider = ways?.provider;
  return (
    <main class="login">
      <form onSubmit={event => {
        event.preventDefault();
        const form = event.currentTarget;
        const token = String(new FormData(form).get('token') ?? '').trim();
        if (token) during(logIn(token).then(() => { if (location.pathname === `${base}login`) go(base, {replace: true}); }));
      }}>
        <h1>Callslip</h1>
        {why && why.code !== 'token_missing' && <p class="hint">{why.message}</p>}
        {error !== null && <Failure error={error} />}
        {provider && (
          <button type="button" class="primary" disabled={isBusy} onClick={() => during(goToProvider(provider))}>
            {`Sign in with ${hostOf(provider)}`}
          </button>)}
        {ways?.token && (
          <>
            <p>{`${provider ? 'Or sign' : 'Sign'} in with a token: the last word of its line in the gateway's token file.`}</p>
            <label>Token
              <input name="token" type="password" autocomplete="current-password" required ref={node => { if (!provider) node?.focus(); }} />
            </label>
            <button type="submit" class={provider ? '' : 'primary'} disabled={isBusy}>Sign in</button>
          </>)}
        {ways && !ways.token && !provider && <p>The gateway has not reached its authorization server yet. Reload this page in a moment.</p>}
      </form>
    </main>);
}
