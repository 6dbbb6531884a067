import * as ApiErrors from "@tocsin/contract/api/ApiErrors"
import { OpsApi } from "@tocsin/contract/api/OpsApi"
import { SignInRequest } from "@tocsin/contract/signIn/Sessions"
import { SignInRefusals } from "@tocsin/contract/signIn/SignInRefusals"
import { CurrentInstruments } from "@tocsin/core/kernel/engine/metrics/Instruments"
import { CurrentOperator, systemOperator } from "@tocsin/core/kernel/ports/CurrentOperator"
import { RefusedSignIn } from "@tocsin/core/features/signIn/IdentityProvider"
import { RuleSettings } from "@tocsin/core/kernel/ports/RuleSettings"
import { Sessions } from "@tocsin/core/features/signIn/Sessions"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { FailedAuthentications } from "../../request/authentication.ts"
import { AgentIntake } from "../../request/Intake.ts"
import { announcedBytes, readBody } from "../../request/RequestBody.ts"
import { fail, toApiError } from "../../response/failures.ts"
import { RequestId } from "../../response/headerFields.ts"
import { signInMetrics } from "@tocsin/core/features/signIn/signInMetrics"

/** The answer to a refused sign-in: of the issuer's faults, 502. */
const answerTo = Effect.fnUntraced(function* ({ message, refusal }: RefusedSignIn) {
  const [status] = SignInRefusals[refusal]
  if (status === 502) return yield* new ApiErrors.IssuerFailed({ message, request_id: yield* RequestId })
  return yield* fail({ code: status === 401 ? "unauthorized" : "forbidden", message })
})

/** Whether a request comes from a page at the public address. No other page may begin a session. */
const isOfThisAddress = (origin: string | undefined, publicUrl: string | undefined): boolean =>
  publicUrl !== undefined && origin === new URL(publicUrl).origin

/** The endpoints of people who have no token yet (docs/rules.md#sign-in). */
export const signIn = HttpApiBuilder.group(
  OpsApi,
  "signIn",
  Effect.fnUntraced(function* (handlers) {
    const sessions = yield* Sessions
    const { publicUrl } = yield* RuleSettings
    const { addressOf, noteSignIn, noteToken, permission } = yield* FailedAuthentications
    const intake = yield* AgentIntake
    const { signIns } = (yield* CurrentInstruments).of(signInMetrics)
    const begin = Effect.fnUntraced(function* (request: SignInRequest, origin: string | undefined) {
      if (!isOfThisAddress(origin, publicUrl)) return yield* RefusedSignIn.because("origin")
      const acting = { ...systemOperator, via: "api", request_id: yield* RequestId } as const
      return yield* Effect.provideService(sessions.signIn(request), CurrentOperator, acting)
    })
    return handlers
      .handle("getSignInOptions", () => sessions.options)
      .handleRaw(
        "signIn",
        Effect.fnUntraced(function* ({ request }) {
          const place = { bytes: announcedBytes(request), sender: addressOf(request) ?? "" }
          const body = yield* intake.within(request, place, readBody(request, SignInRequest))
          const permitted = yield* permission
          if (!permitted.allowed) {
            signIns.of("limited").value += 1
            const [, message] = SignInRefusals.limited
            return yield* fail({ ...permitted, code: "rate_limited", message })
          }
          const begun = begin(body, request.headers["origin"])
          const answer = yield* toApiError(Effect.catchTag(begun, "RefusedSignIn", Effect.succeed))
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
