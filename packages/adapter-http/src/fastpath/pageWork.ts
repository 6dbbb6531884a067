import { STATUS_CODES } from "node:http"
import * as Instant from "@tocsin/contract/Instant"
import { PublicPages } from "@tocsin/core/usecases/PublicPages"
import { Clock, Effect, type Fiber, Option } from "effect"
import type { ApiOptions } from "../ApiRoutes.ts"
import { type Form, formOf } from "../documents/StaticContent.ts"
import { inForm, readyAnswer, type StatusAnswer, statusAnswer } from "../pages/statusAnswers.ts"
import { routeOf } from "../pages/StatusRoutes.ts"
import * as AnswerRecorder from "../response/AnswerRecorder.ts"
import { crossOrigin } from "../response/crossOrigin.ts"
import { allFields } from "../response/headerFields.ts"
import { COUNTED_BYTES } from "../response/pipelining.ts"
import { type Circumstances, lastLines, linesOf, type PageHead } from "./agentMessages.ts"

/** An answer with a page, but for what differs with each request: its id stands between the texts. */
export interface PageAnswer {
  readonly before: string
  readonly after: string
  readonly status: number
  readonly bytes: Buffer | undefined
}

const ID = "\0"

/** The same fields in the same order as the API and node:http write. */
const makePageAnswer = (answer: StatusAnswer, form: Form, origin: Readonly<Record<string, string>>) => {
  const { bytes, fields, status } = inForm(answer, form)
  const lines = linesOf({
    ...fields,
    ...(bytes !== undefined && { "content-length": String(bytes.length) }),
    ...allFields(fields, { requestId: ID, isFinal: false, method: "GET", more: origin }),
  })
  const [before = "", after = ""] = lines.split(ID)
  return { before: `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${before}`, after, status, bytes }
}

/** The pages that the front answers with; absent from a server without any. */
export const pageServices = Effect.fnUntraced(function* ({ allowedOrigins }: ApiOptions) {
  const service = Option.getOrUndefined(yield* Effect.serviceOption(PublicPages))
  if (service === undefined) return undefined
  const recorder = yield* AnswerRecorder.make
  const clock = yield* Clock.Clock
  const origin = crossOrigin(allowedOrigins).fields({ method: "GET", headers: {} as never })
  const made = new WeakMap<StatusAnswer, Map<Form, PageAnswer>>()
  return {
    service,
    context: yield* Effect.context<never>(),
    now: () => Instant.fromMillis(clock.currentTimeMillisUnsafe()),
    recorderOf: ({ file, method }: PageHead) => recorder.of(routeOf(file), method),
    /** The answer to a request with these header fields, made once. */
    answerOf: (answer: StatusAnswer, headers: PageHead["headers"]): PageAnswer => {
      const forms = made.get(answer) ?? new Map<Form, PageAnswer>()
      made.set(answer, forms)
      const form = formOf(answer.etag, headers)
      const known = forms.get(form) ?? makePageAnswer(answer, form, origin)
      forms.set(form, known)
      return known
    },
  }
})

export type PageServices = NonNullable<Effect.Success<ReturnType<typeof pageServices>>>

export interface PageRequest {
  readonly head: PageHead
  readonly requestId: string
}

/** The head of an answer with a page as bytes of HTTP/1.1. */
export const pageHeadText = ({ after, before }: PageAnswer, circumstances: Circumstances): string =>
  before +
  circumstances.requestId +
  (circumstances.isFinal ? `${after}connection: close\r\n` : after) +
  lastLines(circumstances)

/**
 * Finds the answer to a request and passes it on, at once if its page was read less than 15 s ago;
 * otherwise in a fiber. Without an answer, node:http must give it: there is no such file, or so many bytes that they
 * are counted while they are unread.
 */
export const startPage = (
  { answerOf, context, now, recorderOf, service }: PageServices,
  { head, requestId }: PageRequest,
  answer: (made: PageAnswer | undefined) => boolean,
): Fiber.Fiber<unknown> | undefined => {
  const { file, method, name, url } = head
  const startedAt = performance.now()
  const finish = (found: StatusAnswer | undefined): Effect.Effect<void> => {
    const made = found && answerOf(found, head.headers)
    const isUsual = method === "HEAD" || (made?.bytes?.length ?? 0) < COUNTED_BYTES
    if (!answer(isUsual ? made : undefined) || made === undefined) return Effect.void
    const millis = performance.now() - startedAt
    return recorderOf(head).record({ method, url, status: made.status, millis, requestId })
  }
  const fresh = service.fresh(name, now())
  const ready = fresh && readyAnswer(fresh, file)
  if (ready !== undefined) {
    const recorded = finish(ready)
    // An effect that does anything writes the debug line.
    return recorded === Effect.void ? undefined : Effect.runForkWith(context)(recorded)
  }
  const finding = Effect.flatMap(service.find(name), (page) =>
    typeof page === "string"
      ? Effect.undefined
      : Effect.promise(async () => statusAnswer(page, file, service.publicUrl)),
  )
  return Effect.runForkWith(context)(Effect.flatMap(finding, finish))
}
