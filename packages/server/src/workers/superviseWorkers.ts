import cluster, { type Worker } from "node:cluster"
import process from "node:process"
import { Effect, Fiber, Layer } from "effect"
import { onHangup } from "../hangups.ts"
import { loggingLayer } from "../logging.ts"
import type { Settings } from "../settings/Settings.ts"
import { storageName } from "../storage.ts"
import * as systemdNotices from "../systemdNotices.ts"
import type { FromWorker, ToWorker } from "./messages.ts"
import { MetricsQuestions } from "./MetricsQuestions.ts"
import {
  type Ending,
  supervise,
  type Supervision,
  unstarted,
  type WorkerAction,
  type WorkerEvent,
} from "./supervision.ts"
import { STOPS, WORKER_VARIABLE } from "./worker.ts"

/** A worker that gives no sign of life for this long is killed. */
const SILENCE_MILLIS = 60_000
const LOOK_MILLIS = 5_000
/** Longer than a worker takes to stop: its own bound ends it first. */
const STOP_MILLIS = 9_500

/** A worker that the signal of a requested stop ended, before it could handle it, has not failed. */
const codeOf = (code: number | null, signal: string | null): number =>
  code ?? (signal === "SIGTERM" || signal === "SIGINT" ? 0 : 1)

/** Runs the service as several processes on one port, as the main program of this process. */
export const superviseWorkers = (settings: Settings, size: number): void => {
  const workers = new WorkerProcesses(settings, size)
  process.on("SIGTERM", (signal) => workers.stop(signal))
  process.on("SIGINT", (signal) => workers.stop(signal))
  onHangup(() => workers.happened({ event: "reload_requested" }))
  setInterval(() => workers.lookForSilence(), LOOK_MILLIS)
  workers.happened({ event: "started" })
}

interface LivingWorker {
  readonly process: Worker
  seenAt: number
  /** What it said about its end. */
  problem: string | undefined
}

/** Carries out what `supervise` decides. */
class WorkerProcesses {
  readonly #settings: Settings
  readonly #living = new Map<number, LivingWorker>()
  readonly #metrics = new MetricsQuestions((worker, message) => this.#tell(worker, message))
  #supervision: Supervision
  #address = ""
  #port: { readonly SERVICE_PORT?: string } = {}
  #lookedAt = performance.now()
  #notices: Fiber.Fiber<unknown> | undefined

  constructor(settings: Settings, size: number) {
    this.#settings = settings
    this.#supervision = unstarted(size)
  }

  happened(event: WorkerEvent): void {
    const { actions, supervision } = supervise(this.#supervision, event)
    this.#supervision = supervision
    for (const action of actions) this.#perform(action)
  }

  stop(signal: NodeJS.Signals): void {
    if (!this.#supervision.isStopping) {
      this.#run(Effect.logInfo(STOPS))
      if (this.#notices !== undefined) Effect.runFork(Fiber.interrupt(this.#notices))
      setTimeout(() => {
        for (const worker of this.#living.values()) worker.process.process.kill("SIGKILL")
      }, STOP_MILLIS).unref()
    }
    this.happened({ event: "stop_requested", signal })
  }

  lookForSilence(): void {
    const now = performance.now()
    // After a standstill of this process, signs of life are still to be read.
    const isLate = now - this.#lookedAt > 2 * LOOK_MILLIS
    this.#lookedAt = now
    for (const [worker, living] of this.#living) {
      if (isLate) living.seenAt = now
      else if (living.seenAt < now - SILENCE_MILLIS) this.happened({ event: "fell_silent", worker })
    }
  }

  #perform(action: WorkerAction): void {
    switch (action.action) {
      case "fork":
        return this.#fork(action.worker)
      case "wait":
        return void setTimeout(() => this.happened({ event: "waited", worker: action.worker }), action.millis)
      case "signal":
        return void this.#living.get(action.worker)?.process.process.kill(action.signal)
      case "report":
        return this.#report(action)
      case "complain":
        return void process.stderr.write(`${action.problem}\n`)
      case "announce":
        return this.#announce()
      case "end":
        return process.exit(action.code)
    }
  }

  #fork(worker: number): void {
    // systemd and its watchdog are this process's.
    const environment = { NOTIFY_SOCKET: undefined, WATCHDOG_USEC: undefined, WATCHDOG_PID: undefined }
    // The port closes with the last worker. With SERVICE_PORT=0, the next one must get the same again.
    if (this.#living.size === 0 && this.#address !== "")
      this.#port = { SERVICE_PORT: new URL(this.#address).port }
    const forked = this.#start(worker, { ...environment, ...this.#port })
    if (forked === undefined) return
    this.#living.set(worker, { process: forked, seenAt: performance.now(), problem: undefined })
    forked.on("message", (message: FromWorker) => {
      // A message can arrive after its sender's end, and would pass for one of its replacement.
      if (this.#living.get(worker)?.process === forked) this.#receive(worker, message)
    })
    // Without a process, no "exit" follows. Otherwise a message did not reach one that has just ended.
    forked.on("error", ({ message }: Error) => {
      const living = this.#living.get(worker)
      if (living?.process !== forked || forked.process.pid !== undefined) return
      living.problem = message
      this.#ended(worker, { code: 1, signal: undefined })
    })
    // Its last messages, such as the reason of its end, can still be on their way: they are read first.
    forked.on("exit", (code: number | null, signal: string | null) =>
      setImmediate(() => this.#ended(worker, { code: codeOf(code, signal), signal: signal ?? undefined })),
    )
  }

  /** Without memory for a process, the system refuses it at once. */
  #start(worker: number, environment: Readonly<Record<string, string | undefined>>): Worker | undefined {
    try {
      return cluster.fork({ ...environment, [WORKER_VARIABLE]: worker })
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error)
      setImmediate(() => this.happened({ event: "ended", worker, code: 1, signal: undefined, problem }))
      return undefined
    }
  }

  #ended(worker: number, ending: Pick<Ending, "code" | "signal">): void {
    const problem = this.#living.get(worker)?.problem
    this.#living.delete(worker)
    this.#metrics.left(worker)
    this.happened({ event: "ended", worker, ...ending, problem })
  }

  #receive(worker: number, message: FromWorker): void {
    const living = this.#living.get(worker)
    if (living !== undefined) living.seenAt = performance.now()
    switch (message.type) {
      case "alive":
        return
      case "problem":
        if (living !== undefined) living.problem = message.message
        return
      case "listens":
        this.#address = message.address
        return this.happened({ event: "listens", worker })
      case "asks_metrics":
        return this.#metrics.asked({ ...message, from: worker, others: this.#servingBeside(worker) })
      case "counts":
        return this.#metrics.reported(worker, message.families)
      case "metrics":
        return this.#metrics.answered(worker, message.question, message.families)
    }
  }

  #servingBeside(asking: number): ReadonlyArray<number> {
    return Array.from(this.#supervision.workers).flatMap(([worker, { state }]) =>
      worker !== asking && state === "serving" ? [worker] : [],
    )
  }

  #tell(worker: number, message: ToWorker): void {
    const to = this.#living.get(worker)?.process
    if (to?.isConnected()) to.send(message)
  }

  #report({ code, problem, signal, worker }: Extract<WorkerAction, { readonly action: "report" }>): void {
    this.#run(
      Effect.annotateLogs(
        Effect.logError(
          `worker ${worker} ended by ${signal ?? `exit code ${code}`}; another process takes its place`,
        ),
        { worker, ...(problem !== undefined && { problem }) },
      ),
    )
  }

  #announce(): void {
    const { size } = this.#supervision
    this.#run(
      Effect.logInfo(`Tocsin listens on ${this.#address}`).pipe(
        Effect.annotateLogs({ storage: storageName(this.#settings), workers: size }),
      ),
    )
    this.#notices = this.#run(Layer.launch(systemdNotices.layer(process.env)))
  }

  #run<A>(effect: Effect.Effect<A>): Fiber.Fiber<A> {
    const isTerminal = process.stderr.isTTY === true
    return Effect.runFork(Effect.provide(effect, loggingLayer(this.#settings, isTerminal)))
  }
}
