import * as RandomIds from "@tocsin/adapter-crypto/RandomIds"
import type { NotifierName } from "@tocsin/core/contract/Status"
import { type Notifier, Notifiers, type TestReceipt } from "@tocsin/core/ports/Notifiers"
import { Effect, Layer, Redacted } from "effect"
import { notifiersLayer } from "../../notifiers.ts"
import type { Settings } from "../../settings/Settings.ts"
import { failed, type Findings, ok } from "./Finding.ts"

const nameOf = (kind: NotifierName): string => `notifier ${kind}`

const TELEGRAM = "Telegram"

/** Where a notifier sends, as far as it may be shown (docs/rules.md#targets): its origin. */
const targetOf = (kind: NotifierName, settings: Settings): string => {
  const addresses: Readonly<Record<NotifierName, Redacted.Redacted | undefined>> = {
    webhook: settings.SERVICE_WEBHOOK_URL,
    messenger: settings.SERVICE_MESSENGER_URL,
    alert_router: settings.SERVICE_ALERT_ROUTER_URL,
  }
  const address = addresses[kind]
  if (address !== undefined) return URL.parse(Redacted.value(address))?.origin ?? ""
  return kind === "debug" ? "the server's log" : TELEGRAM
}

const outcomeOf = (kind: NotifierName, target: string, { result, status }: TestReceipt): Findings[number] => {
  const answer = status === undefined ? "" : ` (status ${status})`
  return result.outcome === "delivered"
    ? ok(nameOf(kind), `${target} took the test message${answer}`)
    : failed(nameOf(kind), `${target} did not accept the test message: ${result.error}`, "failed")
}

const examine = Effect.fnUntraced(function* (notifier: Notifier, settings: Settings, isTested: boolean) {
  const { kind } = notifier
  const target = targetOf(kind, settings)
  if (kind === "debug") {
    return ok(nameOf(kind), "notifications are written to the server's log, where people must look for them")
  }
  if (!isTested) return ok(nameOf(kind), `sends to ${target}; --send-test sends a message there`)
  return outcomeOf(kind, target, yield* notifier.test)
})

/** The notifiers that are told of incidents; with `isTested` each is sent a message that is marked as a test. */
export const examineNotifiers = Effect.fnUntraced(
  function* (settings: Settings, isTested: boolean) {
    const notifiers = yield* Notifiers
    return yield* Effect.forEach(notifiers.values(), (notifier) => examine(notifier, settings, isTested), {
      concurrency: "unbounded",
    })
  },
  (effect, settings) => Effect.provide(effect, Layer.provide(notifiersLayer(settings), RandomIds.layer)),
)
