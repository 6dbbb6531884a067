import type { CheckpointReply, CheckpointStep } from "./checkpointLoop.ts"
import type { CheckpointWorker } from "./CheckpointWorker.ts"
import type { LogHealth } from "./LogHealth.ts"
import type { LogPosition } from "./LogPosition.ts"

interface CheckpointsOptions {
  readonly worker: Pick<CheckpointWorker, "run" | "close">
  readonly health: LogHealth
  /** From how many pages in use on the log is moved into the file and begun anew. */
  readonly checkpointPages: number
  /** Up to where the log was acknowledged. */
  readonly acknowledged: () => LogPosition
  /** Called when a checkpoint has ended, at its end or before it. */
  readonly onEnd: () => void
}

/** How long to wait after a checkpoint that did not come to its end. */
const RETRY_MILLIS = 1_000

const failureOf = (reply: CheckpointReply): string | undefined => {
  if ("failure" in reply) return reply.failure
  return reply.hasStartedOver ? undefined : "another process goes on reading from it"
}

/**
 * Keeps the log short: when much of it is in use, a worker moves it into the file while writing goes on; then, in a pause
 * of the writer that is as long as a few syncs, the log begins anew. After a sync that failed the log is read back first,
 * and commands are taken again only when it has begun anew. Which steps a state allows is in `LogDuties`.
 */
export class Checkpoints {
  readonly #options: CheckpointsOptions
  readonly #health: LogHealth
  #isRunning = false
  #isHeld = false
  #retry: NodeJS.Timeout | undefined
  #failure: string | undefined
  #onIdle: (() => void) | undefined

  constructor(options: CheckpointsOptions) {
    this.#options = options
    this.#health = options.health
  }

  /** Whether the writer has to wait, because the log is being begun anew. */
  get isHeld(): boolean {
    return this.#isHeld
  }

  /** Why the last checkpoint did not come to its end, if it did not. */
  get failure(): string | undefined {
    return this.#failure
  }

  /** Tells how many pages of the log are in use now. */
  consider(pages: number): void {
    if (pages >= this.#options.checkpointPages && this.#retry === undefined) this.#begin()
  }

  /** A sync has failed: brings all that the log holds into the file and onto the disk, however often that fails. */
  restore(): void {
    clearTimeout(this.#retry)
    this.#begin()
  }

  /** Ends the worker after what it is doing, and calls `done`. */
  close(done: () => void): void {
    clearTimeout(this.#retry)
    this.#onIdle = () => this.#options.worker.close(done)
    if (!this.#isRunning) this.#onIdle()
  }

  #begin(): void {
    this.#retry = undefined
    if (this.#isRunning) return
    if (this.#health.state === "failed") this.#health.apply("verification_started")
    this.#run(this.#health.duty.steps)
  }

  #run([step, ...rest]: ReadonlyArray<CheckpointStep>): void {
    if (step === undefined) return
    this.#isRunning = true
    this.#isHeld = step === "begin_anew"
    this.#options.worker.run({ step, acknowledged: this.#options.acknowledged() }, (reply) => {
      const next = rest[0]
      // A sync that failed meanwhile ends it: the rest of the log may not be what was written.
      const goesOn = !("failure" in reply) && next !== undefined && this.#health.duty.steps.includes(next)
      if (goesOn) this.#run(rest)
      else this.#end(reply)
    })
  }

  #end(reply: CheckpointReply): void {
    this.#isRunning = false
    this.#isHeld = false
    const isOvertaken = this.#health.state === "failed"
    this.#failure = isOvertaken ? undefined : failureOf(reply)
    if (this.#health.state === "verifying") this.#judge(reply)
    if (this.#onIdle !== undefined) this.#onIdle()
    else if (isOvertaken) this.#begin()
    else if (this.#failure !== undefined) this.#scheduleRetry()
    this.#options.onEnd()
  }

  #judge(reply: CheckpointReply): void {
    if (!("failure" in reply)) this.#health.apply(reply.hasStartedOver ? "started_over" : "kept")
    else this.#health.apply(reply.isSpoiled ? "spoiled" : "interrupted")
  }

  #scheduleRetry(): void {
    this.#retry = setTimeout(() => this.#begin(), RETRY_MILLIS)
    this.#retry.unref()
  }
}
