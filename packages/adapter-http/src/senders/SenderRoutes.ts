import type { IntegrationKind } from "@tocsin/contract/Integrations"
import type { SenderRequest } from "@tocsin/core/integrations/Report"
import { Integrations } from "@tocsin/core/usecases/Integrations"
import { Effect, Redacted, Stream } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { errorStatus } from "@tocsin/contract/api/ApiErrors"
import { FailedAuthentications } from "../request/authentication.ts"
import { AgentIntake } from "../request/Intake.ts"
import { errorFields, type Failure, failureOfCause } from "../response/failures.ts"
import { type KnownRoute, pathOf } from "../routes.ts"

type Request = HttpServerRequest.HttpServerRequest

/** A path and the methods of a kind of integration, and its senders' language for an outcome. */
interface Dialect {
  readonly methods: ReadonlyArray<"GET" | "POST" | "PUT" | "PATCH" | "DELETE">
  readonly answer: (failure: Failure | undefined) => HttpServerResponse.HttpServerResponse
}

const statusOf = (failure: Failure | undefined): number =>
  failure === undefined ? 200 : errorStatus[failure.code]

const fieldsOf = (failure: Failure | undefined): Readonly<Record<string, string>> => ({
  "cache-control": "no-store",
  ...(failure !== undefined && errorFields(failure)),
})

const DIALECTS: Readonly<Record<IntegrationKind, Dialect>> = {
  ping: {
    methods: ["GET", "POST"],
    answer: (failure) =>
      HttpServerResponse.text(failure === undefined ? "OK" : failure.message, {
        status: statusOf(failure),
        headers: { ...fieldsOf(failure), "ping-body-limit": "8192" },
      }),
  },
  push: {
    methods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
    answer: (failure) =>
      HttpServerResponse.jsonUnsafe(
        failure === undefined ? { ok: true } : { ok: false, msg: failure.message },
        { status: statusOf(failure), headers: fieldsOf(failure) },
      ),
  },
}

const pathsOf = (kind: IntegrationKind) => `/in/${kind}/*` as const

/** The routes of senders that do not speak the API. */
export const routes: ReadonlyArray<KnownRoute> = Object.entries(DIALECTS).flatMap(([kind, { methods }]) =>
  // The keys of the table are kinds.
  methods.map((method) => ({ method, path: pathsOf(kind as IntegrationKind) })),
)

const MOST_BODY_BYTES = 65_536
const decoder = new TextDecoder()

/** The beginning of a body as text. Tocsin drops the rest: a job's output may have any length. */
const readStart = Effect.fnUntraced(function* (request: Request) {
  const parts: Array<Uint8Array> = []
  let size = 0
  yield* Stream.runForEachWhile(request.stream, (part) =>
    Effect.sync(() => {
      parts.push(part.subarray(0, MOST_BODY_BYTES - size))
      size += part.length
      return size < MOST_BODY_BYTES
    }),
  )
  return decoder.decode(Buffer.concat(parts))
})

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    // Not an encoding: a name like any other.
    return segment
  }
}

/** The key in a path, and the segments after it. A slash at the end means nothing. */
const partsOf = (url: string): { readonly key: Redacted.Redacted; readonly path: ReadonlyArray<string> } => {
  const [, , , key = "", ...rest] = pathOf(url).split("/")
  const path = rest.at(-1) === "" ? rest.slice(0, -1) : rest
  return { key: Redacted.make(key), path: path.map(decoded) }
}

/** The first value of each parameter. */
const queryOf = (url: string): Readonly<Record<string, string>> => {
  const start = url.indexOf("?")
  const parameters = new URLSearchParams(start === -1 ? "" : url.slice(start + 1))
  return Object.fromEntries(Array.from(parameters).toReversed())
}

/** Whether a request has a body that matters. */
const hasBody = ({ method }: Request): boolean => method !== "GET" && method !== "HEAD"

const unauthorized: Failure = { code: "unauthorized", message: "not found" }

/** Takes the requests of senders: each is decided by its integration (docs/rules.md#integrations). */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const integrations = yield* Integrations
    const intake = yield* AgentIntake
    const { note } = yield* FailedAuthentications
    const taking = (kind: IntegrationKind) =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const { key, path } = partsOf(request.url)
        const taken = Effect.gen(function* () {
          // Bodies of unknown senders stay unread, and their keys count as failed authentications.
          const sender = yield* Effect.tapError(integrations.recognise(key), (error) =>
            error._tag === "NotFound" ? note(unauthorized) : Effect.void,
          )
          const body = hasBody(request)
            ? yield* intake.within(
                request,
                Effect.orElseSucceed(readStart(request), () => ""),
              )
            : ""
          const { method, url } = request
          const sent: SenderRequest = { method, path, query: queryOf(url), body }
          yield* integrations.report(kind, sender, sent)
        })
        return yield* taken.pipe(
          Effect.as(undefined),
          Effect.catchCause(failureOfCause),
          Effect.map(DIALECTS[kind].answer),
        )
      })
    for (const kind of ["ping", "push"] as const)
      for (const method of DIALECTS[kind].methods) yield* router.add(method, pathsOf(kind), taking(kind))
  }),
)
