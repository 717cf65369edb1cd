"""Writes generated/client.ts: one method for all operations, typed by what openapi-typescript makes of the same document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DOCUMENT = HERE.parents[1] / "docs" / "openapi.json"
CLIENT = """// Generated from the OpenAPI document by `make typescript`. Do not edit.
import type { operations } from "./schema.js";

export type OperationId = keyof operations;
type Member<T, K extends string> = T extends { [key in K]?: infer V } ? NonNullable<V> : never;
type Content<T> = T extends { content: { "application/json": infer V } } ? V : undefined;
type Ok<T> = T extends { 200: infer V } | { 201: infer V } | { 202: infer V } ? Content<V> : undefined;

/** What an operation takes: parameters of its path and query, headers, and a body. */
export interface Call<K extends OperationId> {
  path?: Member<Member<operations[K], "parameters">, "path">;
  query?: Member<Member<operations[K], "parameters">, "query">;
  headers?: Record<string, string>;
  body?: Content<Member<operations[K], "requestBody">>;
}

/** What an operation returns. */
export type Result<K extends OperationId> = Ok<Member<operations[K], "responses">>;

/** A problem of the service (RFC 9457): `code` is for programs, `detail` for people. */
export class ApiError extends Error {
  constructor(readonly status: number, readonly code: string, readonly detail: string) {
    super(`${status} ${code}: ${detail}`);
  }
}

const ROUTES: Record<OperationId, readonly [string, string]> = {
ROUTES_HERE
};

/** Talks to the service with a user token, or with a service key from a back end. Never ship a service key to a device. */
export class Client {
  constructor(private readonly url: string, private readonly credential: string) {}

  async call<K extends OperationId>(operation: K, call: Call<K> = {}): Promise<Result<K>> {
    const [method, route] = ROUTES[operation];
    const values = (call.path ?? {}) as Record<string, unknown>;
    const address = new URL(route.replace(/{(\\w+)}/g, (_, name: string) => encodeURIComponent(String(values[name]))), this.url);
    for (const [name, value] of Object.entries((call.query ?? {}) as Record<string, unknown>)) {
      if (value !== undefined && value !== null) address.searchParams.set(name, String(value));
    }
    const headers: Record<string, string> = { authorization: `Bearer ${this.credential}`, ...call.headers };
    if (call.body !== undefined) headers["content-type"] = "application/json";
    const body = call.body === undefined ? undefined : JSON.stringify(call.body);
    const answer = await fetch(address, { method, headers, body });
    const text = await answer.text();
    if (!answer.ok) {
      const problem = text.startsWith("{") ? JSON.parse(text) : {};
      throw new ApiError(answer.status, problem.code ?? "unknown", problem.detail ?? text);
    }
    return (text === "" ? undefined : JSON.parse(text)) as Result<K>;
  }
}
"""


def client(document: dict[str, Any]) -> str:
    routes = [
        f"  {operation['operationId']}: [{json.dumps(method.upper())}, {json.dumps(path)}],"
        for path, ways in document["paths"].items()
        for method, operation in ways.items()
    ]
    return CLIENT.replace("ROUTES_HERE", "\n".join(routes))


def main() -> None:
    (HERE / "generated").mkdir(exist_ok=True)
    (HERE / "generated" / "client.ts").write_text(client(json.loads(DOCUMENT.read_text(encoding="utf-8"))), encoding="utf-8")


if __name__ == "__main__":
    main()
