import { type OutgoingHttpHeaders, request } from "node:http"
import { assert } from "@effect/vitest"
import type { Role } from "@tocsin/contract/operators/Operators"
import { Effect } from "effect"
import { type Answer, isEndless } from "./Answer.ts"
import { Tocsin } from "../service/Tocsin.ts"
import { brokenRules } from "./universalRules.ts"

/** A request, beyond its method and path. */
export interface Call {
  readonly token?: string | undefined
  readonly headers?: OutgoingHttpHeaders
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent as it is; in several parts, without a length. */
  readonly body?: string | Uint8Array | ReadonlyArray<Uint8Array>
}

const bodyOf = ({ json, body }: Call): ReadonlyArray<string | Uint8Array> | string | Uint8Array | undefined =>
  json === undefined ? body : JSON.stringify(json)

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Sends a request, checks the rules of all answers, and returns the answer. By the service's clock,
 * each call comes a millisecond after the one before.
 */
export const call = Effect.fnUntraced(function* (method: string, path: string, made: Call = {}) {
  const { port, connections, clock, observatory, headers: added } = yield* Tocsin
  clock.advance("1 millis")
  const body = bodyOf(made)
  const isWhole = typeof body === "string" || body instanceof Uint8Array
  const headers: OutgoingHttpHeaders = {
    ...added,
    ...(made.token !== undefined && { authorization: `Bearer ${made.token}` }),
    ...(made.json !== undefined && { "content-type": "application/json" }),
    ...(isWhole && { "content-length": Buffer.byteLength(body) }),
    // Node's client adds this header only for methods that usually have a body.
    ...(body !== undefined && !isWhole && { "transfer-encoding": "chunked" }),
    ...made.headers,
  }
  const answer = yield* Effect.callback<Answer>((resume) => {
    const outgoing = request(
      { host: "127.0.0.1", port, method, path, headers, agent: connections },
      (incoming) => {
        const parts: Array<Buffer> = []
        incoming.on("data", (part: Buffer) => {
          parts.push(part)
          if (isEndless(incoming)) incoming.destroy()
        })
        incoming.on("error", (error) => resume(Effect.die(error)))
        incoming.on("close", () => {
          const text = Buffer.concat(parts).toString()
          const { statusCode: status = 0, headers, rawHeaders } = incoming
          resume(Effect.succeed({ status, headers, rawHeaders, text, body: parsed(text) }))
        })
      },
    )
    outgoing.on("error", (error) => resume(Effect.die(error)))
    if (body === undefined || isWhole) outgoing.end(body)
    else {
      for (const part of body) outgoing.write(part)
      outgoing.end()
    }
  })
  observatory.note("answer", `${answer.status} ${answer.rawHeaders.join("\n")} ${answer.text}`)
  const requestId = made.headers?.["x-request-id"]
  const asked = { method, path, requestId: typeof requestId === "string" ? requestId : undefined }
  assert.deepStrictEqual(
    brokenRules(answer, asked),
    [],
    `${method} ${path}: ${answer.status} ${answer.text.slice(0, 500)}`,
  )
  return answer
})

/** A request with a UI token. */
export const operate = Effect.fnUntraced(function* (method: string, path: string, made: Call = {}) {
  const { uiToken } = yield* Tocsin
  return yield* call(method, path, { token: uiToken, ...made })
})

/** Creates an operator. Returns the token. */
export const addOperator = Effect.fnUntraced(function* (name: string, role: Role) {
  const { body, status, text } = yield* operate("POST", "/ops/v1/operators", { json: { name, role } })
  assert.strictEqual(status, 201, text)
  // The answer of the API.
  return (body as { readonly token: string }).token
})
