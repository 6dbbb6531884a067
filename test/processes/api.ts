import { assert } from "@effect/vitest"
import { Incident, NotificationOutboxItem, StoredCheckResultEvent } from "@tocsin/contract/v1/Resources"
import { Effect, Schema } from "effect"
import { secretOf } from "./secrecy.ts"

/** The operators' token of every server here that is given one. */
export const OPERATOR_TOKEN = secretOf("operator")

/** Where to call. */
export interface Base {
  readonly baseUrl: string
}

/** A request, beyond its method and path. */
export interface Call {
  /** The operators' unless given. */
  readonly token?: string
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent as it is. */
  readonly text?: string
}

/** The answer to a request. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/**
 * No answer came: the connection was refused, or lost. Whether the request was carried out is not
 * known.
 */
class Unanswered extends Schema.TaggedError<Unanswered>()("Unanswered", {
  cause: Schema.Defect(),
}) {}

/** Longer than any answer takes, beside other work too: a server that exceeds it hangs. */
const PATIENCE_MILLIS = 120_000

/** Makes a request. */
export const call = (
  base: Base,
  method: string,
  path: string,
  { token = OPERATOR_TOKEN, json, text }: Call = {},
) =>
  Effect.tryPromise({
    try: async (signal): Promise<Answer> => {
      const response = await fetch(`${base.baseUrl}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}` },
        signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MILLIS)]),
        ...(json !== undefined && { body: JSON.stringify(json) }),
        ...(text !== undefined && { body: text }),
      })
      return { status: response.status, headers: response.headers, text: await response.text() }
    },
    catch: (cause) => new Unanswered({ cause }),
  })

/** Makes a request that must succeed. */
export const operate = Effect.fnUntraced(function* (base: Base, method: string, path: string, made?: Call) {
  const answer = yield* Effect.orDie(call(base, method, path, made))
  assert.isBelow(answer.status, 300, answer.text)
  return answer
})

/** Creates an integration, and returns its key. */
export const addIntegration = Effect.fnUntraced(function* (
  base: Base,
  given: { readonly name: string; readonly kind: string; readonly options?: object },
) {
  const { text } = yield* operate(base, "POST", "/ops/v1/integrations", { json: given })
  // The answer of the API.
  return (JSON.parse(text) as { readonly key: string }).key
})

const LARGEST_PAGE = 500

const decodePage = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({ items: Schema.Array(Schema.Unknown), next_cursor: Schema.NullOr(Schema.String) }),
  ),
)

/** Reads a list to its end. */
const listOf = Effect.fnUntraced(function* <A>(
  base: Base,
  path: string,
  item: Schema.ConstraintDecoder<A>,
): Effect.fn.Return<ReadonlyArray<A>> {
  const decode = Schema.decodeUnknownSync(item)
  const items: Array<A> = []
  let cursor = ""
  do {
    const separator = path.includes("?") ? "&" : "?"
    const { text } = yield* operate(base, "GET", `${path}${separator}limit=${LARGEST_PAGE}${cursor}`)
    const page = decodePage(text)
    items.push(...page.items.map((one) => decode(one)))
    cursor = page.next_cursor === null ? "" : `&cursor=${encodeURIComponent(page.next_cursor)}`
  } while (cursor !== "")
  return items
})

/** All outbox items, oldest first. */
export const outboxOf = (base: Base) =>
  listOf(base, "/api/v1/notifiers/outbox?sort=created_at&direction=asc", NotificationOutboxItem)

/** All incidents, the one opened first before the others. */
export const incidentsOf = (base: Base) =>
  listOf(base, "/api/v1/incidents?sort=opened_at&direction=asc", Incident)

/** All that is kept of results. */
export const historyOf = (base: Base) => listOf(base, "/api/v1/events/query", StoredCheckResultEvent)

/** The status of readiness or health. */
export const statusOf = (base: Base, path: "/api/v1/ready" | "/api/v1/health") =>
  Effect.map(Effect.orDie(call(base, "GET", path)), ({ status }) => status)
