import * as Instant from "@tocsin/contract/formats/Instant"
import { receiverTypes } from "@tocsin/contract/receivers/ReceiverTypes"
import { withoutTrailing } from "@tocsin/contract/formats/withoutTrailing"
import { Ids } from "@tocsin/core/kernel/ports/Ids"
import type {
  ClaimedAlert,
  DeliveryResult,
  Notifier,
  TestReceipt,
} from "@tocsin/core/heart/notifications/Notifiers"
import { Duration, Effect, Redacted, type Scope } from "effect"
import { MOST_WITH_KEY } from "@tocsin/core/heart/notifications/claimOutbox"
import { linksOf } from "@tocsin/core/heart/notifications/incidentText"
import { whyText } from "@tocsin/core/heart/notifications/whyText"
import { noAnswerWithin } from "../http/receipts.ts"
import { BadNotifierSetting, type HttpPost, makeHttpPost, type PostingOptions } from "../http/HttpPost.ts"
import { aboutNotification, aboutSeveral, type ChatMessage, textOf, toneOf } from "../text/ChatMessage.ts"
import type { Service, ServiceKeys, ServiceRequest, Written } from "./Service.ts"
import { services } from "./services.ts"

/** The resolution of an incident that resolved without a notification. */
const resolutionOf = ({ incident }: ClaimedAlert): Written => ({
  id: incident.id,
  text: "",
  tone: "resolved",
  count: 1,
  tags: [],
  incident,
  links: [],
})

/** The result of an attempt after which so many more follow, at these distances. */
const triedAgain = (
  { error }: { readonly error: string },
  message: ChatMessage,
  after: ReadonlyArray<number>,
): DeliveryResult => {
  const attempt = message.about === "test" ? 1 : Math.max(...message.notifications.map((one) => one.attempt))
  const retryAfterSeconds = after[attempt - 1]
  return retryAfterSeconds === undefined
    ? { outcome: "refused", error }
    : { outcome: "deferred", error, retryAfterSeconds }
}

/** The links outside a text: of a message about one incident, or of a call whose key acknowledges several. */
const linksIn = (message: ChatMessage, { isPhone }: Pick<Service, "isPhone">): Written["links"] => {
  if (message.about === "test") return []
  const { length, [0]: first } = message.notifications
  return first === undefined || length > (isPhone ? MOST_WITH_KEY : 1) ? [] : linksOf(first)
}

const VISIBLE_ASCII = /^[\x21-\x7e]*$/

const DELIVERED: DeliveryResult = { outcome: "delivered" }

interface ServiceOf {
  readonly type: keyof typeof services
  readonly keys: Redacted.Redacted<ServiceKeys>
}

/** Writes to the service of a type by a client of it. Needs the path of its address, without a slash at its end. */
export const notifierOver = Effect.fnUntraced(function* (
  post: HttpPost,
  { keys, timeout, type }: ServiceOf & Pick<PostingOptions, "timeout">,
): Effect.fn.Return<Notifier, never, Ids> {
  const ids = yield* Ids
  const service = services[type]
  const { emergency, lang } = Redacted.value(keys).definition
  const { endAlarm } = service
  const { kind } = receiverTypes[type]
  const postAll: (request: ServiceRequest) => Effect.Effect<TestReceipt> = Effect.fnUntraced(function* ({
    before,
    body,
    otherwise,
    ...parts
  }) {
    if (before !== undefined) yield* Effect.timeoutOption(postAll(before), Duration.divideUnsafe(timeout, 3))
    const receipt = yield* post(typeof body === "string" ? body : JSON.stringify(body), parts)
    const { status = 0 } = receipt
    return otherwise !== undefined && status >= 400 && status < 500 ? yield* postAll(otherwise) : receipt
  })
  const late: TestReceipt = { status: undefined, result: noAnswerWithin(timeout) }
  const postInTime = (request: ServiceRequest) =>
    Effect.timeoutOrElse(postAll(request), { duration: timeout, orElse: () => Effect.succeed(late) })
  const postWritten = (message: Written) => postInTime(service.request(message, Redacted.value(keys)))
  const write = (message: ChatMessage) => {
    const about = message.about === "notification" ? message.notifications[0] : undefined
    return postWritten({
      id: message.id,
      text: service.textOf?.(message) ?? textOf(message, service),
      tone: toneOf(message),
      incident: about?.incident,
      why: about && whyText(about),
      count: message.about === "test" ? 1 : message.notifications.length,
      tags: message.about === "test" ? [] : message.notifications.map(({ incident: { id } }) => id),
      links: linksIn(message, service),
    })
  }
  const send = (message: ChatMessage) =>
    Effect.map(write(message), ({ result, status }): DeliveryResult => {
      if (result.outcome !== "deferred") return result
      if (status !== undefined && status === service.triedAgain?.status)
        return triedAgain(result, message, service.triedAgain.after)
      return service.isPhone && status !== undefined ? { ...result, isAnswered: true } : result
    })
  return {
    kind,
    send: (notification) => send(aboutNotification(notification)),
    // Services that write their text themselves have no room for them.
    ...(kind === "messenger" && service.textOf === undefined && { takesDetails: true }),
    ...(kind === "messenger" && { sendDigest: (notifications) => send(aboutSeveral(notifications)) }),
    ...(endAlarm !== undefined &&
      emergency === true && {
        endAlarm: (incident) =>
          Effect.map(postInTime(endAlarm(incident, Redacted.value(keys))), ({ result }) => result),
      }),
    ...(kind === "alert_router" && {
      remembers: true,
      resend: Effect.fnUntraced(function* (claimed: ReadonlyArray<ClaimedAlert>) {
        const results = yield* Effect.forEach(claimed, (one) => postWritten(resolutionOf(one)))
        return results.map(({ result }) => result).find(({ outcome }) => outcome !== "delivered") ?? DELIVERED
      }),
    }),
    test: Effect.flatMap(Instant.now, (now) => write({ about: "test", id: ids.uuidV7(now), lang })),
  }
})

/** Writes to the service of a type (docs/notifications.md#types). */
export const serviceNotifier = Effect.fnUntraced(function* (
  options: PostingOptions & {
    readonly type: keyof typeof services
    /** Absent for a service that has an address. */
    readonly url: Redacted.Redacted | undefined
    readonly keys: Redacted.Redacted<Omit<ServiceKeys, "path">>
  },
): Effect.fn.Return<Notifier, BadNotifierSetting, Scope.Scope | Ids> {
  const { type } = options
  const { address, retryAfterOf, verdicts } = services[type]
  const keys = Redacted.value(options.keys)
  for (const setting of ["token", "user", "key", "routing_key"] as const) {
    if (VISIBLE_ASCII.test(keys[setting])) continue
    const message = "must be visible ASCII characters, without spaces"
    return yield* new BadNotifierSetting({ setting, message })
  }
  const url = options.url ?? Redacted.make(address ?? "")
  const post = yield* makeHttpPost({ ...options, address: url, retryAfterOf, verdicts })
  const path = withoutTrailing(new URL(Redacted.value(url)).pathname, "/")
  return yield* notifierOver(post, { ...options, keys: Redacted.make({ ...keys, path }) })
})
