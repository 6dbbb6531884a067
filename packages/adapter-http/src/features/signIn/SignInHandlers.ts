import * as ApiErrors from "@tocsin/contract/api/ApiErrors"
import { OpsApi } from "@tocsin/contract/api/OpsApi"
import { Invited, type InvitedSignInRequest, SessionRequest } from "@tocsin/contract/signIn/Invitations"
import type { SignInRequest } from "@tocsin/contract/signIn/Sessions"
import { SignInRefusals } from "@tocsin/contract/signIn/SignInRefusals"
import { CurrentInstruments } from "@tocsin/core/kernel/engine/metrics/Instruments"
import { CurrentOperator, systemOperator } from "@tocsin/core/kernel/ports/CurrentOperator"
import { RefusedSignIn } from "@tocsin/core/features/signIn/SignInIssuer"
import { publicUrlOf, RuleSettings } from "@tocsin/core/kernel/ports/RuleSettings"
import { Sessions } from "@tocsin/core/features/signIn/Sessions"
import { Effect, Schema } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { FailedAuthentications } from "../../request/authentication.ts"
import { AgentIntake } from "../../request/Intake.ts"
import { announcedBytes, readBody } from "../../request/RequestBody.ts"
import { fail, toApiError } from "../../response/failures.ts"
import { RequestId } from "../../response/headerFields.ts"
import { signInMetrics } from "@tocsin/core/features/signIn/part"

/** The answer to a refused sign-in: of the issuer's faults, 502. */
const answerTo = Effect.fnUntraced(function* ({ message, refusal }: RefusedSignIn) {
  const [status] = SignInRefusals[refusal]
  if (status === 502) return yield* new ApiErrors.IssuerFailed({ message, request_id: yield* RequestId })
  return yield* fail({ code: status === 401 ? "unauthorized" : "forbidden", message })
})

/** Whether a request comes from a page at the public address. No other page may begin a session. */
const isOfThisAddress = (origin: string | undefined, publicUrl: string | undefined): boolean =>
  publicUrl !== undefined && origin === new URL(publicUrl).origin

/** Whether a request comes from a page at the public address, or at the address to which it was sent. */
const isOfOwnPage = (
  { headers }: HttpServerRequest.HttpServerRequest,
  publicUrl: string | undefined,
): boolean => {
  const { host, origin } = headers
  if (isOfThisAddress(origin, publicUrl)) return true
  // Browsers leave the usual port out of both.
  return origin !== undefined && host !== undefined && URL.parse(origin)?.host === host
}

const answerOf = (answer: Invited) => HttpServerResponse.jsonUnsafe(Schema.encodeSync(Invited)(answer))

/** The endpoints of people who have no token yet (docs/rules.md#sign-in). */
export const signIn = HttpApiBuilder.group(
  OpsApi,
  "signIn",
  Effect.fnUntraced(function* (handlers) {
    const sessions = yield* Sessions
    const rules = yield* RuleSettings
    const { publicUrl } = rules
    const { addressOf, noteSignIn, noteToken, permission } = yield* FailedAuthentications
    const intake = yield* AgentIntake
    const { signIns } = (yield* CurrentInstruments).of(signInMetrics)
    const acting = Effect.map(
      RequestId,
      (request_id) => ({ ...systemOperator, via: "api", request_id }) as const,
    )
    const begin = Effect.fnUntraced(function* (request: SignInRequest, origin: string | undefined) {
      if (!isOfThisAddress(origin, publicUrl)) return yield* RefusedSignIn.because("origin")
      return yield* Effect.provideService(sessions.signIn(request), CurrentOperator, yield* acting)
    })
    const follow = Effect.fnUntraced(function* (
      request: InvitedSignInRequest,
      sent: HttpServerRequest.HttpServerRequest,
    ) {
      if (!isOfOwnPage(sent, publicUrlOf(rules))) return yield* RefusedSignIn.because("origin")
      if (request.peek === true) return answerOf(yield* sessions.peekAtInvitation(request))
      const begun = sessions.useInvitation(request)
      return answerOf(yield* Effect.provideService(begun, CurrentOperator, yield* acting))
    })
    const start = Effect.fnUntraced(function* (
      body: typeof SessionRequest.Type,
      request: HttpServerRequest.HttpServerRequest,
    ) {
      return yield* "invitation" in body ? follow(body, request) : begin(body, request.headers["origin"])
    })
    return handlers
      .handle("getSignInOptions", () => sessions.options)
      .handleRaw(
        "signIn",
        Effect.fnUntraced(function* ({ request }) {
          const place = { bytes: announcedBytes(request), sender: addressOf(request) ?? "" }
          const body = yield* intake.within(request, place, readBody(request, SessionRequest))
          const permitted = yield* permission
          if (!permitted.allowed) {
            signIns.of("limited").value += 1
            const [, message] = SignInRefusals.limited
            return yield* fail({ ...permitted, code: "rate_limited", message })
          }
          const answer = yield* toApiError(
            Effect.catchTag(start(body, request), "RefusedSignIn", Effect.succeed),
          )
          const isRefused = answer instanceof RefusedSignIn
          signIns.of(isRefused ? answer.refusal : "signed_in").value += 1
          if (!isRefused) return answer
          // A page elsewhere reaches no issuer. A sign-in without a turn does not either, and is no fault of the person.
          if (answer.refusal === "origin") yield* noteToken
          else if (answer.refusal !== "busy") yield* noteSignIn
          return yield* answerTo(answer)
        }),
      )
  }),
)
