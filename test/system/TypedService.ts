import { type Fake, fakes, serviceKeysOf } from "../../packages/adapter-notify/test/services/fakes.ts"
import { testIds } from "../../packages/adapter-notify/test/testIds.ts"
import type { Received } from "../../packages/adapter-notify/test/Receiver.ts"
import { mailsOver } from "@tocsin/adapter-notify/email/email"
import { makeHandOver } from "@tocsin/adapter-notify/email/handOver"
import type { Mail, MailFault } from "@tocsin/adapter-notify/email/mailServer"
import type { Answer as Answered, Exchange, NoAnswer } from "@tocsin/adapter-notify/http/exchange"
import { postOver } from "@tocsin/adapter-notify/http/HttpPost"
import { services } from "@tocsin/adapter-notify/services/services"
import { notifierOver } from "@tocsin/adapter-notify/services/serviceNotifier"
import type {
  ClaimedAlert,
  DeliveryResult,
  Notifier,
  SendResult,
} from "@tocsin/core/heart/notifications/Notifiers"
import { receiverTypes } from "@tocsin/contract/receivers/ReceiverTypes"
import { Duration, Effect, Option, Redacted } from "effect"
import type { Answer, Attempt, TypedReceiver } from "../service/Receivers.ts"
import type { Draws } from "./Draws.ts"

type HttpType = keyof typeof services
export type SimulatedType = HttpType | "email"

/** A browser's messages go to the browsers of an operator, of which a scenario has none. */
const isSimulated = (type: string): type is SimulatedType => type in services || type === "email"

/** The types of receivers that people read, and those that keep alerts. */
export const TYPES_OF = {
  messenger: Object.entries(receiverTypes).flatMap(([type, { kind }]) =>
    kind === "messenger" && isSimulated(type) ? [type] : [],
  ),
  alert_router: ["pagerduty", "opsgenie"],
} as const satisfies Readonly<Record<string, ReadonlyArray<SimulatedType>>>

/** The wait that the hints in bodies ask for: longer than the first delay of the schedule. */
const SECONDS_OF_HINTS = 7

const TIMEOUTS = { http: Duration.seconds(15), mail: Duration.seconds(45) }
const PERMANENT = [400, 401, 403, 404, 410, 422] as const
const PASSING = [408, 425, 429, 500, 502, 503] as const

/** A planted defect of a notifier: its result, misread. */
export type Misread = (result: DeliveryResult) => DeliveryResult

/** The scenario that a service is part of. */
export interface TypedWorld {
  readonly draws: Draws
  readonly complain: (line: string) => void
  readonly misread: Misread
  /** Planted: it takes the ends of alerts, and sends none. */
  readonly endsNoAlert: boolean
}

/** A service of a type on virtual time: it judges the requests of that type's code, and keeps its alerts. */
export interface TypedService extends TypedReceiver {
  /** The incidents whose alerts are open there. */
  readonly alerts: ReadonlySet<string>
}

/** The end of one request for its sender, and whether the message arrives. */
interface Fate {
  readonly answer: Answer
  readonly arrive: Effect.Effect<boolean>
  readonly onHint: (seconds: number) => void
}

const lost: NoAnswer = { code: "ECONNRESET" }

/** The change of an alert that a request of a paging service makes. */
const alertIn = ({ body, path }: Received): { readonly key: string; readonly isOpen: boolean } => {
  const closed = /^\/v2\/alerts\/([\w-]+)\/close/.exec(path)?.[1]
  if (closed !== undefined) return { key: closed, isOpen: false }
  const { alias, dedup_key, event_action } = JSON.parse(body) as Readonly<Record<string, string>>
  return { key: alias ?? dedup_key ?? "", isOpen: event_action !== "resolve" }
}

/** A refusal of a service, half of those for now with a request to wait, in its own words. */
const refusalOf = (
  { answer, onHint }: Fate,
  { hint, type }: { readonly hint: string | undefined; readonly type: HttpType },
  draws: Draws,
): Answered => {
  const { verdicts = {} } = services[type]
  const garbage = draws.oneOf("", "{}", "<html>", "\u0000")
  if (answer.outcome === "refused")
    return {
      status: draws.pick(PERMANENT.filter((status) => verdicts[status] === undefined)) ?? 401,
      retryAfter: undefined,
      body: garbage,
    }
  if (draws.chance(0.5)) return { status: draws.pick(PASSING) ?? 503, retryAfter: undefined, body: garbage }
  if (hint !== undefined && draws.chance(0.5)) {
    onHint(SECONDS_OF_HINTS)
    return { status: 429, retryAfter: undefined, body: hint }
  }
  const seconds = draws.oneOf(SECONDS_OF_HINTS, 90, 5_000)
  onHint(seconds)
  return { status: 429, retryAfter: String(seconds), body: garbage }
}

const mailsOf = ({ complain, draws }: TypedWorld, fate: Fate) => {
  const failing = (fault: Partial<MailFault>) =>
    Effect.fail({ answer: undefined, code: undefined, ...fault } satisfies MailFault)
  const transact = Effect.fnUntraced(function* (mail: Mail, recipients: ReadonlyArray<string>) {
    const { from, html, messageId, subject, text, to } = mail
    const isLine = [subject, messageId, from.name, from.address, ...to].every((one) => !/[\r\n]/.test(one))
    if (!isLine || subject === "" || text === "" || html === "" || !/^<[\w-]+@example\.org>$/.test(messageId))
      complain(`a mail server would refuse ${JSON.stringify(mail)}`)
    yield* fate.arrive
    if (fate.answer.answeringMillis > 0)
      return yield* Effect.andThen(Effect.sleep(TIMEOUTS.mail), failing({ code: "ELATE" }))
    if (fate.answer.outcome === "delivered") return { accepted: recipients, rejected: new Map() }
    if (fate.answer.outcome === "deferred" && draws.chance(0.3)) return yield* failing(lost)
    const isForGood = fate.answer.outcome === "refused"
    const command = draws.oneOf("CONN", "MAIL", "RCPT", "DATA")
    const status = isForGood ? draws.oneOf(550, 554) : draws.oneOf(421, 451)
    const answer = { command, status, enhanced: undefined }
    if (command !== "RCPT") return yield* failing({ answer })
    return { accepted: [], rejected: new Map(recipients.map((one) => [one, answer])) }
  })
  const client = {
    offer: { hasUtf8: true, hasLogin: false, hasStartTls: true },
    greet: Effect.void,
    transact,
  }
  return mailsOver(makeHandOver(client), {
    from: "Tocsin <tocsin@example.org>",
    to: ["ops@example.org", "eva@example.org"],
    settings: { port: 587, isSecure: false, needsTls: true, hasLogin: false, timeout: TIMEOUTS.mail },
  })
}

/** A fake of a service, asked by the code of its type. */
const exchangeOf = (
  {
    fake,
    onAlert,
    type,
  }: { readonly fake: Fake; readonly type: HttpType; readonly onAlert: (request: Received) => void },
  { complain, draws }: TypedWorld,
  fate: Fate,
): Exchange =>
  Effect.fnUntraced(function* ({ content, headers, method, path }) {
    const request: Received = {
      method: method ?? "POST",
      path: path ?? fake.path,
      headers: { ...headers, "content-type": content?.type },
      body: content?.text.toString() ?? "",
      closed: Effect.never,
    }
    const status = fake.judge(request)
    if (status >= 300) complain(`${type} would answer ${status} to ${request.path} ${request.body}`)
    if (yield* fate.arrive) onAlert(request)
    if (fate.answer.answeringMillis > 0) return yield* Effect.as(Effect.sleep(TIMEOUTS.http), Option.none())
    if (fate.answer.outcome === "delivered")
      return Option.some({ status, retryAfter: undefined, body: draws.oneOf("{}", "", "<html>") })
    if (fate.answer.outcome === "deferred" && draws.chance(0.3)) return yield* Effect.fail(lost)
    return Option.some(refusalOf(fate, { hint: fake.hint, type }, draws))
  })

/** Starts the fake of a type. Its answers are drawn within the outcome that an attempt is to have. */
export const startService = (type: SimulatedType, world: TypedWorld): TypedService => {
  const alerts = new Set<string>()
  const { kind } = receiverTypes[type]
  const onAlert = (request: Received) => {
    if (kind !== "alert_router") return
    const { isOpen, key } = alertIn(request)
    if (isOpen) alerts.add(key)
    else alerts.delete(key)
  }
  const notifierOf = (fate: Fate): Effect.Effect<Notifier> => {
    if (type === "email") return Effect.provide(mailsOf(world, fate), testIds)
    const fake = fakes[type]
    const { retryAfterOf, verdicts } = services[type]
    const judging = { retryAfterOf, verdicts, timeout: TIMEOUTS.http }
    const post = postOver(exchangeOf({ fake, type, onAlert }, world, fate), judging)
    return Effect.provide(
      notifierOver(post, { type, keys: Redacted.make(serviceKeysOf(fake)), timeout: TIMEOUTS.http }),
      testIds,
    )
  }
  const send = Effect.fnUntraced(function* (attempt: Attempt, arrive: Effect.Effect<boolean>) {
    const onHint = (seconds: number) => void (attempt.asked = seconds)
    const notifier = yield* notifierOf({ answer: attempt.answer, arrive, onHint })
    const result: SendResult = yield* notifier.send(attempt.notification)
    return result.outcome === "shadow" ? result : world.misread(result)
  })
  const resend = Effect.fnUntraced(function* (
    claimed: ReadonlyArray<ClaimedAlert>,
    answer: Answer,
    arrive: Effect.Effect<boolean>,
  ) {
    const notifier = yield* notifierOf({ answer, arrive, onHint: () => {} })
    if (notifier.resend === undefined) return yield* Effect.die(new Error(`${type} keeps no alerts`))
    if (world.endsNoAlert) return { outcome: "delivered" } as const
    return world.misread(yield* notifier.resend(claimed))
  })
  return { kind, alerts, send, ...(kind === "alert_router" && { resend }) }
}
