import process from "node:process"
import type { DeliveryResult, TestReceipt } from "@tocsin/core/heart/notifications/Notifiers"
import { Duration, Effect, Option } from "effect"
import type { Answer, NoAnswer } from "./exchange.ts"
import { OWN_MACHINE, OWN_REFUSED, PRIVATE_REFUSED, TARGET_REFUSED } from "./Target.ts"

const ADVICE: ReadonlyMap<number, string> = new Map([
  [401, "check the credentials in the notifier's settings"],
  [403, "check the credentials in the notifier's settings"],
  [404, "check the address in the notifier's settings"],
  [405, "check the address in the notifier's settings"],
  [410, "the receiver no longer exists; check the address in the notifier's settings"],
])

/** Statuses below 500 that are worth another attempt (docs/rules.md#delivery). */
const DEFERRED = new Set([408, 425, 429])

/** The outcomes of statuses that mean something else at a receiver than everywhere else. */
export type Verdicts = Readonly<Record<number, "deferred" | "refused">>

const verdictOf = (status: number): DeliveryResult["outcome"] => {
  if (status >= 200 && status < 300) return "delivered"
  return DEFERRED.has(status) || (status >= 500 && status < 600) ? "deferred" : "refused"
}

/** The result of an answer (docs/rules.md#delivery); `retryAfterSeconds` if the receiver asked to wait. */
export const resultOfStatus = (
  status: number,
  retryAfterSeconds: number | undefined,
  verdicts: Verdicts = {},
): DeliveryResult => {
  const outcome = verdicts[status] ?? verdictOf(status)
  if (outcome === "delivered") return { outcome }
  // The answer has loaded it.
  const phrase = process.getBuiltinModule("node:http").STATUS_CODES[status]
  const answered = `The receiver answered ${status}${phrase === undefined ? "" : ` (${phrase})`}`
  if (outcome === "deferred") {
    return {
      outcome,
      error: `${answered}.`,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    }
  }
  const advice =
    status >= 300 && status < 400
      ? "Tocsin does not follow redirects; set the address it redirects to"
      : (ADVICE.get(status) ?? "see the receiver's log for the reason")
  return { outcome, error: `${answered}: ${advice}.` }
}

/** Sentences for error codes of Node.js; the first match counts. */
const FAILURES: ReadonlyArray<readonly [codes: RegExp, sentence: string]> = [
  [/^ECONNREFUSED$/, "The receiver refused the connection: check that it is running, and check its port."],
  [
    /^(ENOTFOUND|EAI_\w+|ENODATA|ESERVFAIL)$/,
    "The receiver's host name does not resolve: check the name and the DNS.",
  ],
  [
    /^(ECONNRESET|EPIPE|ECONNABORTED|ECONNECTION|ESOCKET)$/,
    "The connection closed before the receiver answered.",
  ],
  [
    /^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN)$/,
    "The receiver is unreachable: check the network.",
  ],
  [/^HPE_/, "The answer was not HTTP: check the address and the port."],
  [
    /^(EPROTO|ERR_SSL_WRONG_VERSION_NUMBER)$/,
    "The TLS handshake failed: check that the port speaks TLS, or begin the address with http://.",
  ],
  [/CERT|SELF_SIGNED|UNABLE_TO_|TLS|SSL/, "The TLS connection failed: check the receiver's certificate."],
]

/** Why a target's addresses are all refused, by the error's `code`. */
const REFUSALS = new Map([
  [TARGET_REFUSED, "is link-local or cloud metadata"],
  [PRIVATE_REFUSED, "is not public, and SERVICE_DENY_PRIVATE_TARGETS is set"],
  [OWN_REFUSED, OWN_MACHINE],
])

/** Of an attempt that failed. */
export type FailedResult = Exclude<DeliveryResult, { readonly outcome: "delivered" }>

/**
 * The result without an answer, by the error's `code`; its message is not used because it contains
 * addresses. Only a refused target is not worth a retry.
 */
export const resultOfFailure = (code: string | undefined): FailedResult => {
  const refusal = REFUSALS.get(code ?? "")
  if (refusal !== undefined)
    return { outcome: "refused", error: `Tocsin does not call the receiver's address: it ${refusal}.` }
  const known = FAILURES.find(([codes]) => codes.test(code ?? ""))?.[1]
  const shown = code !== undefined && /^[A-Z0-9_]{1,64}$/.test(code) ? ` (${code})` : ""
  return { outcome: "deferred", error: known ?? `The request failed${shown}.` }
}

export const noAnswerWithin = (timeout: Duration.Duration): DeliveryResult => ({
  outcome: "deferred",
  error: `The receiver did not answer within ${Duration.format(timeout)}.`,
})

/** Turns an exchange into a receipt; `judge` decides on an answer. */
export const receiptOf = (
  exchange: Effect.Effect<Option.Option<Answer>, NoAnswer>,
  timeout: Duration.Duration,
  judge: (answer: Answer) => Effect.Effect<DeliveryResult>,
): Effect.Effect<TestReceipt> => {
  const without = (result: DeliveryResult): TestReceipt => ({ status: undefined, result })
  return exchange.pipe(
    Effect.flatMap(
      Option.match({
        onNone: () => Effect.succeed(without(noAnswerWithin(timeout))),
        onSome: (answer) => Effect.map(judge(answer), (result) => ({ status: answer.status, result })),
      }),
    ),
    Effect.catch(({ code }) => Effect.succeed(without(resultOfFailure(code)))),
  )
}
