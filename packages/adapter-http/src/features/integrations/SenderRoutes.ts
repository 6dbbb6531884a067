import { type RequestKindName, requestKindNames } from "@tocsin/contract/integrations/integrationKinds"
import type { Protocol } from "@tocsin/core/features/integrations/Kind"
import { KINDS } from "@tocsin/core/features/integrations/kinds"
import type { SenderRequest } from "@tocsin/core/features/integrations/Report"
import { Ingest } from "@tocsin/core/heart/usecases/Ingest"
import { Integrations } from "@tocsin/core/features/integrations/Integrations"
import type { Sender } from "@tocsin/core/features/integrations/senderCalls"
import { Effect, Redacted } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import type { PayloadTooLarge, Validation } from "@tocsin/contract/api/ApiErrors"
import { FailedAuthentications } from "../../request/authentication.ts"
import { AgentIntake } from "../../request/Intake.ts"
import {
  announcedBytes,
  MOST_OF_END,
  MOST_UNNAMED_BYTES,
  readNamed,
  readParsed,
  readEnd,
} from "../../request/RequestBody.ts"
import { type Failure, failureOfCause } from "../../response/failures.ts"
import type { KnownRoute } from "../../routes.ts"
import { addressed, answerOf, hasBody, PARSERS, responseOf, withBody } from "./dialects.ts"

type Request = HttpServerRequest.HttpServerRequest

const pathsOf = (kind: RequestKindName) => `/in/${kind}/*` as const

const NAMES = requestKindNames

export const routes: ReadonlyArray<KnownRoute> = NAMES.flatMap((kind) =>
  // The router adds the path without anything after it, too.
  KINDS[kind].protocol.methods.flatMap((method) =>
    ([`/in/${kind}`, pathsOf(kind)] as const).map((path) => ({ method, path })),
  ),
)

const unread =
  (code: "payload_too_large" | "validation") =>
  ({ message }: PayloadTooLarge | Validation): Effect.Effect<Failure> =>
    Effect.succeed({ code, message })

interface Unread {
  readonly request: Request
  readonly protocol: Protocol
  /** The request with what was read of its body. */
  readonly readAs: (body: string, droppedBytes?: number) => SenderRequest
  readonly report: (
    sender: Sender,
    body: string,
    droppedBytes?: number,
  ) => ReturnType<Integrations["Service"]["report"]>
}

/** Takes requests whose key is known before their bodies are read: those of unknown senders stay unread. */
const takingByKey = Effect.map(AgentIntake, (intake) =>
  Effect.fnUntraced(function* <E, R>(
    { protocol: { body }, report, request }: Unread,
    recognised: Effect.Effect<Sender, E, R>,
  ) {
    const sender = yield* recognised
    if (!hasBody(request.method)) return yield* report(sender, "")
    const announced = announcedBytes(request)
    const bytes = body === "end" ? Math.min(announced, MOST_OF_END) : announced
    const taken =
      body === "end"
        ? Effect.flatMap(readEnd(request), ({ droppedBytes, text }) => report(sender, text, droppedBytes))
        : Effect.flatMap(readParsed(request, PARSERS[body]), (text) => report(sender, text))
    return yield* intake.within(request, { bytes, sender: sender.key_hash }, taken)
  }),
)

/**
 * Takes requests whose key is in their bodies: within the budget for data with unknown keys of the client's address,
 * which gets it back once the key is recognised.
 */
const takingByBody = Effect.gen(function* () {
  const { bodies } = yield* Ingest
  const intake = yield* AgentIntake
  const { addressOf } = yield* FailedAuthentications
  return <E, R>(
    { protocol: { body, keyOf }, readAs, report, request }: Unread,
    recognise: (key: Redacted.Redacted) => Effect.Effect<Sender, E, R>,
  ) => {
    const address = addressOf(request)
    const announced = announcedBytes(request)
    const isStated = request.headers["content-length"] !== undefined
    let read = 0
    return Effect.acquireUseRelease(
      bodies.enterUnnamed({ address, bytes: isStated ? Math.min(announced, MOST_UNNAMED_BYTES) : undefined }),
      ({ forgive }) => {
        const named = readNamed(request, {
          parse: PARSERS[body === "form" ? body : "whole"],
          onRead: (bytes) => (read += bytes),
          recognise: (start) => {
            const key = Redacted.make(keyOf?.(readAs(start)) ?? "")
            return Effect.tap(recognise(key), () => Effect.sync(forgive))
          },
        })
        const taken = Effect.flatMap(named, ([sender, text]) => report(sender, text))
        return intake.within(request, { bytes: announced, sender: address ?? "" }, taken)
      },
      ({ leave }) => Effect.sync(() => leave(read)),
    )
  }
})

/** Takes the requests of senders: each is decided by its integration (docs/rules.md#integrations). */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const integrations = yield* Integrations
    const { noteToken } = yield* FailedAuthentications
    const [takeByKey, takeByBody] = [yield* takingByKey, yield* takingByBody]
    // Unknown keys count as failed authentications.
    const recognise = (key: Redacted.Redacted) =>
      Effect.tapErrorTag(integrations.recognise(key), "NotFound", () => noteToken)
    const taking = (kind: RequestKindName) =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const { protocol } = KINDS[kind]
        const { headers, method, url } = request
        const { key, ...given } = addressed(
          { authorization: headers["authorization"], method, url },
          protocol,
        )
        let asked: SenderRequest = { ...given, body: "" }
        const readAs = (body: string, droppedBytes = 0) =>
          (asked = { ...withBody(protocol, given, body), ...(droppedBytes > 0 && { droppedBytes }) })
        const received: Unread = {
          request,
          protocol,
          readAs,
          report: (sender, body, droppedBytes) =>
            integrations.report(kind, sender, readAs(body, droppedBytes)),
        }
        const take = key === undefined ? takeByBody(received, recognise) : takeByKey(received, recognise(key))
        return yield* take.pipe(
          Effect.map((taken) => answerOf(protocol, asked, undefined, taken)),
          Effect.catchTags({
            PayloadTooLarge: unread("payload_too_large"),
            Validation: unread("validation"),
          }),
          Effect.catchCause(failureOfCause),
          Effect.map((said) => responseOf("code" in said ? answerOf(protocol, asked, said) : said)),
        )
      })
    for (const kind of NAMES)
      for (const method of KINDS[kind].protocol.methods)
        yield* router.add(method, pathsOf(kind), taking(kind))
  }),
)
