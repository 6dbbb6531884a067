import { IntegrationKind } from "@tocsin/contract/Integrations"
import { Integrations } from "@tocsin/core/usecases/Integrations"
import { Effect, Redacted, Stream } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { PayloadTooLarge, Validation } from "@tocsin/contract/api/ApiErrors"
import { errorStatus } from "@tocsin/contract/Errors"
import { FailedAuthentications } from "../request/authentication.ts"
import { AgentIntake } from "../request/Intake.ts"
import { readSenderText } from "../request/RequestBody.ts"
import { errorFields, type Failure, failureOfCause } from "../response/failures.ts"
import { type KnownRoute, pathOf } from "../routes.ts"
import { isTokenOf } from "@tocsin/core/operators/tokens"

type Request = HttpServerRequest.HttpServerRequest

/** The methods of a kind of integration, where its key is, and its senders' language for an outcome. */
interface Dialect {
  readonly methods: ReadonlyArray<"GET" | "POST" | "PUT" | "PATCH" | "DELETE">
  /** The body as text: the start of any text, or a whole one of at most 1 MiB. */
  readonly body: (request: Request) => Effect.Effect<string, PayloadTooLarge | Validation>
  /** Whether the header Authorization may have the key, instead of the path. */
  readonly hasHeader: boolean
  readonly answer: (failure: Failure | undefined) => HttpServerResponse.HttpServerResponse
}

const headOf = (failure: Failure | undefined) => ({
  status: failure === undefined ? 200 : errorStatus[failure.code],
  headers: { "cache-control": "no-store", ...(failure !== undefined && errorFields(failure)) },
})

const MOST_BODY_BYTES = 65_536
const decoder = new TextDecoder()

/** The beginning of a body as text. Tocsin drops the rest: a job's output may have any length. */
const readStart = (request: Request): Effect.Effect<string> =>
  Effect.suspend(() => {
    const parts: Array<Uint8Array> = []
    let size = 0
    const read = Stream.runForEachWhile(request.stream, (part) =>
      Effect.sync(() => {
        parts.push(part.subarray(0, MOST_BODY_BYTES - size))
        size += part.length
        return size < MOST_BODY_BYTES
      }),
    )
    return Effect.match(read, {
      onSuccess: () => decoder.decode(Buffer.concat(parts)),
      onFailure: () => "",
    })
  })

/** Senders of JSON: they log the status, and at most the text. */
const json: Dialect = {
  methods: ["POST"],
  body: readSenderText,
  hasHeader: true,
  answer: (failure) =>
    failure === undefined
      ? HttpServerResponse.empty(headOf(failure))
      : HttpServerResponse.text(failure.message, headOf(failure)),
}

const DIALECTS: Readonly<Record<IntegrationKind, Dialect>> = {
  alertmanager: json,
  webhook: json,
  ping: {
    methods: ["GET", "POST"],
    body: readStart,
    hasHeader: false,
    answer: (failure) => {
      const { headers, status } = headOf(failure)
      return HttpServerResponse.text(failure === undefined ? "OK" : failure.message, {
        status,
        headers: { ...headers, "ping-body-limit": "8192" },
      })
    },
  },
  push: {
    methods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
    body: readStart,
    hasHeader: false,
    answer: (failure) =>
      HttpServerResponse.jsonUnsafe(
        failure === undefined ? { ok: true } : { ok: false, msg: failure.message },
        headOf(failure),
      ),
  },
}

/** Also the path without anything after it. */
const pathsOf = (kind: IntegrationKind) => `/in/${kind}/*` as const

const KINDS = IntegrationKind.literals

export const routes: ReadonlyArray<KnownRoute> = KINDS.flatMap((kind) =>
  DIALECTS[kind].methods.map((method) => ({ method, path: pathsOf(kind) })),
)

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    // Not an encoding: a name like any other.
    return segment
  }
}

/** The key that a header Authorization has: as a bearer token, or as the password. */
const keyOfHeader = (authorization = ""): string | undefined => {
  const [, scheme = "", credentials = ""] = /^(Bearer|Basic) +([^ ]+) *$/iu.exec(authorization) ?? []
  if (scheme.toLowerCase() !== "basic") return credentials === "" ? undefined : credentials
  const text = Buffer.from(credentials, "base64").toString()
  return text.slice(text.indexOf(":") + 1)
}

/** The key of a request, and the segments of its path after it. A slash at the end means nothing. */
const partsOf = ({ headers, url }: Request, { hasHeader }: Dialect) => {
  const [, , , ...segments] = pathOf(url).split("/")
  const path = segments.at(-1) === "" ? segments.slice(0, -1) : segments
  const [first = "", ...rest] = path
  const inHeader = hasHeader ? keyOfHeader(headers["authorization"]) : undefined
  const key = Redacted.make(first)
  // A key in the path counts alone: a proxy may have added a header.
  return inHeader === undefined || isTokenOf("integration", key)
    ? { key, path: rest.map(decoded) }
    : { key: Redacted.make(inHeader), path: path.map(decoded) }
}

/** The first value of each parameter. */
const queryOf = (url: string): Readonly<Record<string, string>> => {
  const start = url.indexOf("?")
  const parameters = new URLSearchParams(start === -1 ? "" : url.slice(start + 1))
  return Object.fromEntries(Array.from(parameters).toReversed())
}

/** Whether a request has a body that matters. */
const hasBody = ({ method }: Request): boolean => method !== "GET" && method !== "HEAD"

/** A body that could not be read. */
const unread =
  (code: "payload_too_large" | "validation") =>
  ({ message }: PayloadTooLarge | Validation): Effect.Effect<Failure> =>
    Effect.succeed({ code, message })

/** Takes the requests of senders: each is decided by its integration (docs/rules.md#integrations). */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const integrations = yield* Integrations
    const intake = yield* AgentIntake
    const { noteToken } = yield* FailedAuthentications
    const taking = (kind: IntegrationKind) =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const dialect = DIALECTS[kind]
        const { key, path } = partsOf(request, dialect)
        const { method, url } = request
        const take = Effect.gen(function* () {
          // Bodies of unknown senders stay unread, and their keys count as failed authentications.
          const sender = yield* Effect.tapErrorTag(integrations.recognise(key), "NotFound", () => noteToken)
          const report = (body: string) =>
            integrations.report(kind, sender, { method, path, query: queryOf(url), body })
          yield* hasBody(request)
            ? intake.within(request, Effect.flatMap(dialect.body(request), report))
            : report("")
        })
        return yield* take.pipe(
          Effect.as(undefined),
          Effect.catchTags({
            PayloadTooLarge: unread("payload_too_large"),
            Validation: unread("validation"),
          }),
          Effect.catchCause(failureOfCause),
          Effect.map(dialect.answer),
        )
      })
    for (const kind of KINDS)
      for (const method of DIALECTS[kind].methods) yield* router.add(method, pathsOf(kind), taking(kind))
  }),
)
