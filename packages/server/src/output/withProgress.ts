import { Duration, Effect, Fiber } from "effect"
import { Output } from "./Output.ts"
import { countText, cutToWidth } from "./texts.ts"

export interface Step {
  readonly done: number
  /** Absent if the amount of work is unknown. */
  readonly total?: number | undefined
  /** The counted things, and the current action: `rows, copying check_event`. */
  readonly of: string
}

export interface Progress {
  readonly report: (step: Step) => void
  /** Shows a step immediately, before work that blocks the process. */
  readonly enter: (step: Step) => Effect.Effect<void>
}

interface ProgressOptions {
  /** Writes lines instead of redrawing one (`--progress`). */
  readonly asLines: boolean
}

/** Shorter work shows no progress. */
const PATIENCE = Duration.seconds(1)
const BETWEEN_REDRAWS = Duration.millis(200)
const BETWEEN_LINES = Duration.seconds(1)

const textOf = ({ done, total, of }: Step): string => {
  if (total === undefined) return of
  const percent = total === 0 ? 100 : Math.floor((Math.min(done, total) * 100) / total)
  return `${countText(done)} of ${countText(total)} ${of} (${percent} %)`
}

const BACK_AND_CLEAR = "\r\u001B[2K"

/**
 * Runs work and shows its progress on standard error once it takes longer than a second: on a
 * terminal in one line that is removed at the end, or as lines if requested.
 */
export const withProgress = <A, E, R>(
  { asLines }: ProgressOptions,
  work: (progress: Progress) => Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R | Output> =>
  Effect.gen(function* () {
    const output = yield* Output
    const isLive = output.noteColumns !== undefined && !asLines
    let latest: Step | undefined
    const report = (step: Step) => {
      latest = step
    }
    if (!isLive && !asLines) return yield* work({ report, enter: () => Effect.void })
    const show = Effect.suspend(() => {
      if (latest === undefined) return Effect.void
      const text = textOf(latest)
      return output.note(
        isLive ? `${BACK_AND_CLEAR}${cutToWidth(text, output.noteColumns ?? 0)}` : `${text}\n`,
      )
    })
    const repeated = Effect.forever(
      Effect.andThen(show, Effect.sleep(isLive ? BETWEEN_REDRAWS : BETWEEN_LINES)),
    )
    const enter = (step: Step) =>
      Effect.andThen(
        Effect.sync(() => report(step)),
        show,
      )
    return yield* Effect.acquireUseRelease(
      Effect.forkChild(Effect.andThen(Effect.sleep(PATIENCE), repeated)),
      () => work({ report, enter }),
      (shown) => Effect.andThen(Fiber.interrupt(shown), isLive ? output.note(BACK_AND_CLEAR) : Effect.void),
    )
  })
