// Calls to /v1, as any client makes them: JSON in and out, errors as problems (RFC 9457).

/** An error of the HTTP API: `code` is for programs, `message` for people. */
export class Problem extends Error {
  constructor(status, body, retryAfter) {
    super(body.detail || body.title || `status ${status}`);
    this.status = status;
    this.code = body.code || "";
    this.errors = body.errors || [];
    this.requestId = body.request_id || "";
    this.retryAfter = retryAfter;
  }

  /** Whether the same request may succeed later. */
  get retryable() {
    return this.status === 503 || this.status === 502 || this.status === 504;
  }
}

/** No response came: it is unknown whether the request arrived. */
export class Unreachable extends Error {
  constructor() {
    super("the service cannot be reached");
  }
}

const TIMEOUT = 15_000; // milliseconds

/** A client of the service. `token(renew)` returns the credential; `renew` is true after one was refused. */
export class Client {
  constructor(token = null) {
    this.token = token;
  }

  get(path) {
    return this.call("GET", path);
  }

  post(path, body, headers) {
    return this.call("POST", path, body, headers);
  }

  put(path, body, headers) {
    return this.call("PUT", path, body, headers);
  }

  delete(path) {
    return this.call("DELETE", path);
  }

  async call(method, path, body, headers = {}) {
    try {
      return await this.#once(method, path, body, headers, false);
    } catch (error) {
      if (this.token && error instanceof Problem && error.status === 401) {
        return this.#once(method, path, body, headers, true);
      }
      throw error;
    }
  }

  async #once(method, path, body, headers, renew) {
    const sent = { Accept: "application/json", ...headers };
    if (this.token) sent.Authorization = `Bearer ${await this.token(renew)}`;
    if (body !== undefined) sent["Content-Type"] = "application/json";
    let response;
    let text;
    try {
      response = await fetch(`/v1${path}`, {
        method,
        headers: sent,
        body: body === undefined ? undefined : JSON.stringify(body),
        cache: "no-store",
        signal: AbortSignal.timeout(TIMEOUT),
      });
      text = await response.text();
    } catch {
      throw new Unreachable();
    }
    const content = parsed(text);
    if (!response.ok) throw new Problem(response.status, content ?? {}, Number(response.headers.get("retry-after")) || 0);
    return content;
  }
}

/** Repeat `act` while the service is starting or unreachable. `waiting` is called with the reason, and with null at the end. */
export async function withRetries(act, waiting) {
  for (let tries = 0; ; tries += 1) {
    try {
      const result = await act();
      if (tries) waiting(null);
      return result;
    } catch (error) {
      if (!(error instanceof Unreachable || (error instanceof Problem && error.retryable))) throw error;
      waiting(error.message);
      await pause(Math.min(500 * 2 ** tries, 4_000));
    }
  }
}

export const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

function parsed(text) {
  if (!text) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
