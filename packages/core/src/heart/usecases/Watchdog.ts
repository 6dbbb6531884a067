import { Duration, Effect, Layer, Schedule } from "effect"
import { type Health, HealthExamination } from "../health/HealthExamination.ts"
import { type DeliveryResult, type WatchdogPing, WatchdogReceiver } from "../notifications/Notifiers.ts"

export interface WatchdogOptions {
  /** From the start of one watchdog ping to the start of the next. */
  readonly interval: Duration.Duration
  readonly isStopping: Effect.Effect<boolean>
}

/** Trouble that is over by then, such as a restarting database, is not reported. */
const SECOND_LOOK_AFTER = Duration.seconds(10)

/** The watchdog ping for a verdict; none while the service shuts down, which is intended. */
const beatOf = (health: Health): WatchdogPing | undefined => {
  switch (health.state) {
    case "stopping":
      return undefined
    case "well":
      return { isWell: true }
    case "unwell":
      return {
        isWell: false,
        text: `Tocsin is not well: ${health.faults.map(({ text }) => text).join("; ")}.`,
      }
  }
}

/** Sends a watchdog ping immediately and at each interval. Each replica sends its own. */
export const layer = ({
  interval,
  isStopping,
}: WatchdogOptions): Layer.Layer<never, never, HealthExamination | WatchdogReceiver> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { examine } = yield* HealthExamination
      const { send } = yield* WatchdogReceiver
      const logChange = onChange()
      const look = Effect.flatMap(isStopping, examine)
      const secondLook = Effect.delay(look, Duration.min(SECOND_LOOK_AFTER, Duration.times(interval, 0.5)))
      const watchdog = Effect.gen(function* () {
        const found = yield* look
        const next = beatOf(found.state === "unwell" ? yield* secondLook : found)
        if (next === undefined) return
        const { result } = yield* send(next)
        yield* logChange(next, result)
      })
      const always = Effect.catchCause(watchdog, (cause) =>
        Effect.logWarning("a watchdog ping failed unexpectedly; retrying", cause),
      )
      yield* Effect.forkScoped(Effect.repeat(always, Schedule.fixed(interval)))
    }),
  )

/** Logs changes since the previous watchdog ping: whether all is well, and whether watchdog pings arrive. */
const onChange = () => {
  let wasWell = true
  let hadArrived = true
  return Effect.fnUntraced(function* (watchdog: WatchdogPing, result: DeliveryResult) {
    const { isWell } = watchdog
    const hasArrived = result.outcome === "delivered"
    if (!isWell && wasWell) yield* Effect.logWarning(watchdog.text)
    if (isWell && !wasWell) yield* Effect.logInfo("Tocsin is well again")
    if (!hasArrived && hadArrived) {
      yield* Effect.annotateLogs(
        Effect.logWarning("the watchdog ping did not arrive; the next one follows on schedule"),
        { error: result.error },
      )
    }
    if (hasArrived && !hadArrived) yield* Effect.logInfo("watchdog pings arrive again")
    wasWell = isWell
    hadArrived = hasArrived
  })
}
