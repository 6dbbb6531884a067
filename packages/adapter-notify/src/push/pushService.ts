import * as Instant from "@tocsin/contract/formats/Instant"
import { NO_CONTACT, type PushService } from "@tocsin/core/features/push/PushService"
import { withoutBrackets } from "@tocsin/contract/formats/hosts"
import { Duration, Effect, Redacted, Result } from "effect"
import { isIP } from "node:net"
import { makeExchange } from "../http/exchange.ts"
import { parseRetryAfter } from "../http/HttpPost.ts"
import { receiptOf, resultOfStatus } from "../http/receipts.ts"
import { isRefusedAddress, OWN_MACHINE, parseTarget, type TargetPolicy } from "../http/Target.ts"
import { encryptFor, isAuth, isPoint, makeKeyPair, padded, proofOf, topicOf, vapidField } from "./webPush.ts"

/** The push services of browsers: Chrome and most others, Firefox, Safari, Edge. */
const KNOWN = [
  "fcm.googleapis.com",
  "*.push.services.mozilla.com",
  "*.push.apple.com",
  "*.notify.windows.com",
]

/** Two attempts and the pause between them end within 23 s. */
const TIMEOUT = Duration.seconds(9)
const LASTS = Duration.hours(12)

export interface PushOptions extends Omit<TargetPolicy, "denyLoopback"> {
  /** Whom push services may write to: `mailto:` or `https:`; without it, none can be reached. */
  readonly contact: () => string | undefined
  /** Push services besides the known ones: a host, `*.DOMAIN`, or an origin. */
  readonly services: ReadonlyArray<string>
  readonly mayReachLoopback: boolean
}

const ELSEWHERE = "is no known push service: add its host to SERVICE_PUSH_SERVICES, or use another browser"

const isNamed = (url: URL, service: string): boolean => {
  if (service.includes("://")) return URL.parse(service)?.origin === url.origin
  if (url.protocol !== "https:" || url.port !== "") return false
  return service.startsWith("*.") ? url.hostname.endsWith(service.slice(1)) : url.hostname === service
}

const isLoopback = (url: URL): boolean => {
  const host = withoutBrackets(url.hostname)
  if (host === "localhost" || host.endsWith(".localhost")) return true
  return (
    isIP(host) !== 0 &&
    isRefusedAddress(host, { denyPrivateTargets: false, denyLoopback: true }) &&
    !isRefusedAddress(host, { denyPrivateTargets: false })
  )
}

/** Finds the host of an address, or why it is not allowed. */
const hostOfAddress =
  (allowed: ReadonlyArray<string>, policy: TargetPolicy): PushService["hostOf"] =>
  ({ endpoint }) => {
    const url = URL.parse(Redacted.value(endpoint))
    const isForeign = url === null || url.username !== "" || url.password !== ""
    if (isForeign || !allowed.some((one) => isNamed(url, one)))
      return Result.fail(`the address of this browser ${ELSEWHERE}`)
    if (policy.denyLoopback === true && isLoopback(url))
      return Result.fail(`the address of this browser ${OWN_MACHINE}`)
    return Result.mapBoth(parseTarget(endpoint, policy), {
      onFailure: (problem) => `the address of this browser ${problem}`,
      onSuccess: () => url.hostname,
    })
  }

/** {@link PushService} over node:crypto and HTTP (docs/rules.md#browsers). */
export const pushService = ({
  contact,
  denyPrivateTargets,
  mayReachLoopback,
  services,
}: PushOptions): PushService => {
  const policy: TargetPolicy = { denyPrivateTargets, denyLoopback: !mayReachLoopback }
  const hostOf = hostOfAddress([...KNOWN, ...services], policy)
  return {
    problem: () => (contact() === undefined ? NO_CONTACT : undefined),
    newKey: () => {
      const { private_key, public_key } = makeKeyPair()
      return { public_key, private_key: Redacted.make(private_key) }
    },
    keyProblem: ({ auth, p256dh }) => {
      if (!isPoint(Redacted.value(p256dh)))
        return "keys.p256dh must be a point of P-256: 65 bytes as base64url"
      return isAuth(Redacted.value(auth)) ? undefined : "keys.auth must be 16 bytes as base64url"
    },
    hostOf,
    proofOf: ({ auth, p256dh }) => proofOf(Redacted.value(auth), Redacted.value(p256dh)),
    post: (address, key, { about, text, ttlSeconds, urgency }) =>
      Effect.scoped(
        Effect.gen(function* () {
          const target = parseTarget(address.endpoint, policy)
          const refusal = Result.isFailure(target) ? target.failure : undefined
          const sub = contact()
          if (Result.isFailure(target) || sub === undefined)
            return {
              status: undefined,
              result: { outcome: "refused", error: refusal ?? NO_CONTACT },
            } as const
          const now = yield* Instant.now
          const [auth, p256dh] = [Redacted.value(address.auth), Redacted.value(address.p256dh)]
          const exp = Number(Instant.plus(now, LASTS) / 1_000_000n)
          const claims = { aud: target.success.url.origin, sub, exp }
          const keys = { public_key: key.public_key, private_key: Redacted.value(key.private_key) }
          const exchange = yield* makeExchange(target.success, { ...policy, timeout: TIMEOUT })
          const message = {
            content: { type: "application/octet-stream", text: encryptFor(padded(text), { auth, p256dh }) },
            headers: {
              "content-encoding": "aes128gcm",
              authorization: vapidField(claims, keys),
              ttl: String(ttlSeconds),
              urgency,
              topic: topicOf(about, auth),
            },
          }
          return yield* receiptOf(exchange(message), TIMEOUT, ({ retryAfter, status }) =>
            Effect.map(Instant.now, (at) => resultOfStatus(status, parseRetryAfter(retryAfter, at))),
          )
        }),
      ),
  }
}
