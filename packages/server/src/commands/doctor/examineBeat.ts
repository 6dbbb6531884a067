import { BeatReceiver } from "@tocsin/core/ports/Notifiers"
import { Duration, Effect, Redacted } from "effect"
import { beatReceiver } from "../../beats.ts"
import type { Settings } from "../../settings/Settings.ts"
import { failed, type Findings, ok } from "./Finding.ts"

const CHECK = "beat"

/** Where beats go, as far as it may be shown (docs/rules.md#notifiers); with `isTested` one is sent, which counts there as any other. */
export const examineBeat = Effect.fnUntraced(function* (settings: Settings, isTested: boolean) {
  const receiver = beatReceiver(settings)
  const address = settings.SERVICE_BEAT_URL
  if (receiver === undefined || address === undefined) return [] satisfies Findings
  const origin = URL.parse(Redacted.value(address))?.origin ?? ""
  const interval = Duration.format(settings.SERVICE_BEAT_INTERVAL)
  if (!isTested) return [ok(CHECK, `goes to ${origin} every ${interval}; --send-test sends one there`)]
  const send = Effect.flatMap(BeatReceiver, ({ send: sendBeat }) => sendBeat({ isWell: true }))
  const { result, status } = yield* Effect.provide(send, receiver)
  return [
    result.outcome === "delivered"
      ? ok(CHECK, `${origin} took a beat (status ${status})`)
      : failed(CHECK, `${origin} did not accept a beat: ${result.error}`, "failed"),
  ]
})
