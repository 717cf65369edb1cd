// Calling /v1 like any client: JSON in and out, errors as problem details (RFC 9457).

/** The service answered that something is wrong; `code` is for programs, `message` for people. */
export class Problem extends Error {
  constructor(status, body, retryAfter) {
    super(body.detail || body.title || `status ${status}`);
    this.status = status;
    this.code = body.code || "";
    this.errors = body.errors || [];
    this.request = body.request || "";
    this.retryAfter = retryAfter;
  }

  /** Whether the same request may succeed later. */
  get passing() {
    return this.status === 503 || this.status === 502 || this.status === 504;
  }
}

/** No answer came: it is unknown whether the request was heard. */
export class Unreachable extends Error {
  constructor() {
    super("the service cannot be reached");
  }
}

const PATIENCE = 15_000; // milliseconds until a request counts as unanswered

/** A caller of the service; `token()` gives the credential, and is asked again with true when one was refused. */
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

  async #once(method, path, body, headers, again) {
    const sent = { Accept: "application/json", ...headers };
    if (this.token) sent.Authorization = `Bearer ${await this.token(again)}`;
    if (body !== undefined) sent["Content-Type"] = "application/json";
    let answer;
    let text;
    try {
      answer = await fetch(`/v1${path}`, {
        method,
        headers: sent,
        body: body === undefined ? undefined : JSON.stringify(body),
        cache: "no-store",
        signal: AbortSignal.timeout(PATIENCE),
      });
      text = await answer.text();
    } catch {
      throw new Unreachable();
    }
    const said = parsed(text);
    if (!answer.ok) throw new Problem(answer.status, said ?? {}, Number(answer.headers.get("retry-after")) || 0);
    return said;
  }
}

/** Do it, and again while the service is starting or away; `waiting` is told why, and null when it is over. */
export async function patiently(act, waiting) {
  for (let tries = 0; ; tries += 1) {
    try {
      const result = await act();
      if (tries) waiting(null);
      return result;
    } catch (error) {
      if (!(error instanceof Unreachable || (error instanceof Problem && error.passing))) throw error;
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
