import { likewise } from "@tocsin/core/kernel/unitOfWork/Decision"
import { inspect } from "node:util"
import { Cause, Effect, type Exit, Layer, Logger, References, Tracer } from "effect"
import type { Storage } from "@tocsin/core/kernel/ports/Storage"

/** Part of every token of the tests, so that a token is recognized anywhere. */
const SECRET_MARK = "tell-no-one"

let tokensMade = 0

/**
 * A key or token that begins and ends with the mark. It is new unless `of` names it, and has 48
 * characters unless `length` is set.
 */
export const newToken = ({ length = 48, of }: { length?: number; of?: string | undefined } = {}): string => {
  tokensMade += 1
  const middle = `-${of?.replaceAll(/[^!-~]/g, "?") ?? tokensMade}-`
  return `${SECRET_MARK}${middle.padEnd(length - 2 * SECRET_MARK.length, "~")}${SECRET_MARK}`
}

const inBase64 = [0, 1, 2].map((offset) =>
  Buffer.from("x".repeat(offset) + SECRET_MARK)
    .toString("base64")
    // The first and last digits also depend on the text around the mark.
    .slice(offset === 0 ? 0 : 4, -4),
)
const secret = new RegExp([SECRET_MARK, Buffer.from(SECRET_MARK).toString("hex"), ...inBase64].join("|"), "i")

/** Where something was seen. */
export type Sighting = "log" | "span" | "answer" | "row"

/** A line of the service's log, as text. */
export interface LogLine {
  readonly level: string
  /** Message, cause and annotations. */
  readonly text: string
}

const whole = (value: unknown): string =>
  inspect(value, { depth: null, maxArrayLength: null, maxStringLength: null, breakLength: Infinity })

/** Rows hold nothing else that JSON lacks. */
const withBigInts = (_: string, value: unknown): unknown =>
  typeof value === "bigint" ? String(value) : value

/**
 * Sees everything that leaves the service (answers, log, spans, rows) and records secrets in it.
 */
export class Observatory {
  readonly leaks: Array<string> = []
  /** The log lines at level error. */
  readonly log: Array<LogLine> = []
  readonly sightings: Record<Sighting, number> = { log: 0, span: 0, answer: 0, row: 0 }
  readonly #isTraced: boolean
  readonly #shown: Array<string> = []

  constructor({ traced = false } = {}) {
    this.#isTraced = traced
  }

  note(sighting: Sighting, text: string): void {
    this.sightings[sighting] += 1
    const found = secret.exec(text)
    if (found !== null)
      this.leaks.push(`${sighting}: …${text.slice(Math.max(0, found.index - 200), found.index + 80)}`)
    for (const shown of this.#shown)
      if (text.includes(shown)) this.leaks.push(`${sighting}: a secret that is shown once`)
  }

  /** From now on, nothing may contain this secret, which an answer has just shown. */
  forbid(shownOnce: string): void {
    this.#shown.push(shownOnce)
  }

  /** How many lines of the log hold all of these texts. */
  logged(...texts: ReadonlyArray<string>): number {
    return this.log.filter((line) => texts.every((text) => line.text.includes(text))).length
  }

  /** A log at every level, and a tracer if traced, whose output is searched for secrets. */
  get layer(): Layer.Layer<never> {
    const logger = Logger.make<unknown, void>((options) => {
      const cause = Cause.pretty(options.cause)
      const text = `${Logger.formatJson.log(options)} ${whole(options.message)} ${whole(options.cause)} ${cause}`
      this.note("log", text)
      // The rest is many megabytes, and no test reads it.
      if (options.logLevel === "Error") this.log.push({ level: options.logLevel, text })
    })
    return Layer.mergeAll(
      Logger.layer([logger]),
      Layer.succeed(References.MinimumLogLevel, "All"),
      Layer.succeed(References.MinimumTraceLevel, "All"),
      this.#isTraced ? Layer.succeed(Tracer.Tracer, this.#tracer) : Layer.empty,
    )
  }

  get #tracer(): Tracer.Tracer {
    const noteSpan = (text: string) => this.note("span", text)
    return Tracer.make({
      span: (options) =>
        new (class extends Tracer.NativeSpan {
          override end(endTime: bigint, exit: Exit.Exit<unknown, unknown>): void {
            super.end(endTime, exit)
            noteSpan(whole([this.name, this.attributes, this.events, exit]))
          }
        })(options),
    })
  }

  /** `storage`, every row that it is given being seen. */
  watch(storage: Storage["Service"]): Storage["Service"] {
    return {
      ...storage,
      transact: (command) =>
        Effect.suspend(() => {
          let rows = ""
          return storage
            .transact(
              likewise(command, function* (workspace, now) {
                const reply = yield* command(workspace, now)
                rows = JSON.stringify(workspace.changes(), withBigInts)
                return reply
              }),
            )
            .pipe(Effect.tap(() => Effect.sync(() => this.note("row", rows))))
        }),
    }
  }
}
