import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

/** The gateway's default scopes, and those of OpenID Connect. */
const RESOURCE_SCOPES = 'callslip.client callslip.view callslip.admin callslip.work';
const SCOPES = ['openid', 'offline_access', ...RESOURCE_SCOPES.split(' ')];

/** The limit of steps of one authorization: each page and each redirect is a step. */
const MAX_STEPS = 20;

/** A signing key, as a private JWK. */
function makeKey() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...privateKey.export({ format: 'jwk' }), alg: 'ES256', kid: 'first', use: 'sig' };
}

/** A real authorization server on this machine, and the user in front of it. */
export class AuthorizationServer {
  /** The lifetime of access tokens, in s. */
  tokenTtl = 600;
  /** The number of token requests, by `grant_type`. */
  grants = {};
  #key = makeKey();
  #clients = [];

  static async start() {
    const server = new AuthorizationServer();
    server.http = createServer((request, response) => server.callback(request, response));
    // A test that fails before it closes the server has to end all the same.
    server.http.listen(0, '127.0.0.1').unref();
    await once(server.http, 'listening');
    server.issuer = `http://127.0.0.1:${server.http.address().port}`;
    server.#configure();
    return server;
  }

  /** Adds a client that did not register itself. */
  addClient(client) {
    this.#clients.push(client);
    this.#configure();
  }

  #configure() {
    const provider = new Provider(this.issuer, this.#configuration());
    provider.on('grant.success', ({ oidc }) => {
      const type = oidc.params.grant_type;
      this.grants[type] = (this.grants[type] ?? 0) + 1;
    });
    this.callback = provider.callback();
  }

  #configuration() {
    return {
      jwks: { keys: [this.#key] },
      clients: this.#clients,
      cookies: { keys: ['of a test'] },
      scopes: SCOPES,
      clientDefaults: { id_token_signed_response_alg: 'ES256' },
      findAccount: (context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
      issueRefreshToken: (context, client) => client.grantTypeAllowed('refresh_token'),
      features: {
        registration: { enabled: true },
        resourceIndicators: {
          enabled: true,
          useGrantedResource: () => true,
          getResourceServerInfo: (context, resource) => ({
            scope: RESOURCE_SCOPES,
            audience: resource,
            accessTokenFormat: 'jwt',
            accessTokenTTL: this.tokenTtl,
            jwt: { sign: { alg: 'ES256' } },
          }),
        },
      },
    };
  }

  /**
   * The user's steps after a client has redirected to `url`: signs in as `login` and consents.
   * Returns the code for the client.
   */
  async approve(url, login) {
    const cookies = new Map();
    const visit = async (address, form) => {
      const response = await fetch(address, {
        redirect: 'manual',
        headers: { Cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
        ...(form && { method: 'POST', body: new URLSearchParams(form) }),
      });
      for (const cookie of response.headers.getSetCookie()) {
        const [, name, value] = cookie.match(/^([^=]+)=([^;]*)/);
        cookies.set(name, value);
      }
      return response;
    };
    let response = await visit(url);
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const location = response.headers.get('location');
      if (location) {
        const next = new URL(location, this.issuer);
        if (next.origin !== this.issuer) return this.#codeIn(next);
        response = await visit(next);
      } else {
        const page = await response.text();
        const [, action] = page.match(/action="([^"]+)"/) ?? [];
        if (!action) throw new Error(`The authorization ends at a page without a form:\n${page}`);
        const [, prompt] = page.match(/name="prompt" value="(\w+)"/);
        response = await visit(new URL(action, this.issuer), { prompt, login, password: 'any' });
      }
    }
    throw new Error('The authorization does not end.');
  }

  #codeIn(url) {
    const code = url.searchParams.get('code');
    if (!code) throw new Error(`No code in ${url}`);
    return code;
  }

  async close() {
    this.http.closeAllConnections();
    await new Promise((resolve) => { this.http.close(resolve); });
  }
}

/** The storage that the official client's OAuth support requires; records the authorization URL. */
export class OAuthClient {
  redirectUrl = 'http://127.0.0.1:9/callback';
  clientMetadata = {
    client_name: 'callslip-e2e',
    redirect_uris: [this.redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  /** The URL to which the client redirects the user. */
  authorizationUrl = undefined;

  clientInformation() { return this.information; }

  saveClientInformation(information) { this.information = information; }

  tokens() { return this.saved; }

  saveTokens(tokens) { this.saved = tokens; }

  redirectToAuthorization(url) { this.authorizationUrl = url; }

  saveCodeVerifier(verifier) { this.verifier = verifier; }

  codeVerifier() { return this.verifier; }
}
