/** How long one poll is held by the gateway, in s. */
const POLL_S = 5;

/**
 * A worker over the gateway's HTTP API, like the extension but without a browser: it answers each
 * command at once with the result of `execute` for its parameters.
 */
export class FakeWorker {
  #gatewayUrl;
  #execute;
  #headers;
  #stopped = new AbortController();
  #loop;

  constructor(gatewayUrl, execute, token) {
    this.#gatewayUrl = gatewayUrl;
    this.#execute = execute;
    this.#headers = token ? { Authorization: `Bearer ${token}` } : {};
  }

  static start(gatewayUrl, execute, token) {
    const worker = new FakeWorker(gatewayUrl, execute, token);
    worker.#loop = worker.#work();
    // The caller of stop() gets the error.
    worker.#loop.catch(() => {});
    return worker;
  }

  /** Ends the current poll; rejects if the worker failed before. */
  async stop() {
    this.#stopped.abort();
    await this.#loop;
  }

  async #work() {
    try {
      for (;;) {
        const queries = await this.#request(`/pending-queries?wait=${POLL_S}&worker=fake`);
        for (const query of queries) await this.#answer(query);
      }
    } catch (error) {
      if (!this.#stopped.signal.aborted) throw error;
    }
  }

  async #answer({ id, correlation_id, params, traceparent, tracestate }) {
    const body = { id, correlation_id, status: 'complete', result: this.#execute(params) };
    await this.#request('/query-result', {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(traceparent && { traceparent }),
        ...(tracestate && { tracestate }),
      },
      body: JSON.stringify(body),
    });
  }

  async #request(path, { headers, ...options } = {}) {
    const url = new URL(path, this.#gatewayUrl);
    const response = await fetch(url, {
      ...options,
      headers: { ...this.#headers, ...headers },
      signal: this.#stopped.signal,
    });
    if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
    return response.json();
  }
}
