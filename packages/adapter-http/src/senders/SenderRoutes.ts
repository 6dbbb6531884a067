import { IntegrationKind } from "@tocsin/contract/Integrations"
import { KINDS } from "@tocsin/core/integrations/kinds"
import { Integrations } from "@tocsin/core/usecases/Integrations"
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import type { PayloadTooLarge, Validation } from "@tocsin/contract/api/ApiErrors"
import { FailedAuthentications } from "../request/authentication.ts"
import { AgentIntake } from "../request/Intake.ts"
import { announcedBytes } from "../request/RequestBody.ts"
import { type Failure, failureOfCause } from "../response/failures.ts"
import type { KnownRoute } from "../routes.ts"
import { addressed, answerOf, BODIES, responseOf } from "./dialects.ts"

type Request = HttpServerRequest.HttpServerRequest

const pathsOf = (kind: IntegrationKind) => `/in/${kind}/*` as const

const NAMES = IntegrationKind.literals

export const routes: ReadonlyArray<KnownRoute> = NAMES.flatMap((kind) =>
  // The router adds the path without anything after it, too.
  KINDS[kind].protocol.methods.flatMap((method) =>
    ([`/in/${kind}`, pathsOf(kind)] as const).map((path) => ({ method, path })),
  ),
)

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
        const { protocol } = KINDS[kind]
        const { mostBytes, read } = BODIES[protocol.body]
        const { headers, method, url } = request
        const { key, ...given } = addressed(
          { authorization: headers["authorization"], method, url },
          protocol,
        )
        const take = Effect.gen(function* () {
          // Bodies of unknown senders stay unread, and their keys count as failed authentications.
          const sender = yield* Effect.tapErrorTag(integrations.recognise(key), "NotFound", () => noteToken)
          const report = (body: string) => integrations.report(kind, sender, { ...given, body })
          const bytes = Math.min(announcedBytes(request), mostBytes)
          const place = { bytes, sender: sender.key_hash }
          return yield* hasBody(request)
            ? intake.within(request, place, Effect.flatMap(read(request), report))
            : report("")
        })
        return yield* take.pipe(
          Effect.map((taken) => answerOf(protocol, undefined, taken)),
          Effect.catchTags({
            PayloadTooLarge: unread("payload_too_large"),
            Validation: unread("validation"),
          }),
          Effect.catchCause(failureOfCause),
          Effect.map((said) => responseOf("code" in said ? answerOf(protocol, said) : said)),
        )
      })
    for (const kind of NAMES)
      for (const method of KINDS[kind].protocol.methods)
        yield* router.add(method, pathsOf(kind), taking(kind))
  }),
)
