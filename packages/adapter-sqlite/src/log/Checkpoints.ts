import { Worker } from "node:worker_threads"
import type { LogPosition } from "./LogFile.ts"
import type { LogHealth } from "./LogTransitions.ts"

/** One step of a checkpoint; see {@link checkpointThread}. */
export type CheckpointStep = "move" | "start_over"

/** How many pages the log has and are moved, and whether it has started over since the first step. */
export type CheckpointReply =
  | {
      readonly pages: number
      readonly moved: number
      readonly hasStartedOver: boolean
      /** Whether the log ended where the order of this step says, until the step changed it. */
      readonly isAlone?: boolean
    }
  | { readonly failure: string }

/** A step, and where the log ends for a writer that knows all before. */
export interface CheckpointOrder {
  readonly step: CheckpointStep
  readonly end?: LogPosition | undefined
}

/** The worker gets this as text, so it uses only its arguments. */
const openCheckpoint = (file: string, keptBytes: number) => {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
  const { closeSync, openSync, readSync } = process.getBuiltinModule("node:fs")
  // Longer than other processes write, shorter than the writer should wait.
  const busyMillis = 100
  const open = () => new DatabaseSync(file, { timeout: busyMillis, returnArrays: true })
  const reader = open()
  const mover = open()
  mover.exec(
    `PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = ${keptBytes}`,
  )
  const use = (connection: typeof mover, mode: "PASSIVE" | "NOOP") => {
    const row: unknown = connection.prepare(`PRAGMA wal_checkpoint(${mode})`).get()
    const [, pages = 0, moved = 0] = row as [busy: number, pages: number, moved: number]
    return { pages, moved }
  }
  const letGo = () => {
    if (mover.isTransaction) mover.exec("ROLLBACK")
    if (reader.isTransaction) reader.exec("COMMIT")
  }
  return {
    checkpoint: (mode: "PASSIVE" | "NOOP") => use(mover, mode),
    /** The pages of the log, also in a transaction of the mover. */
    pages: () => use(reader, "NOOP").pages,
    /** The salts in the log's header, which change when it starts over. */
    readSalts: () => {
      const descriptor = openSync(`${file}-wal`, "r")
      const salts = Buffer.alloc(8)
      readSync(descriptor, salts, 0, 8, 16)
      closeSync(descriptor)
      return salts.readBigUInt64BE()
    },
    /** Keeps every process from starting the log over, until `letGo`. */
    hold: () => {
      reader.exec("BEGIN")
      reader.prepare("SELECT 1 FROM sqlite_schema").get()
    },
    letGo,
    /**
     * Commits the smallest change, which starts over a log that is moved and has no reader. Looks first, when no
     * process can write.
     */
    change: <A>(look: () => A): A => {
      const row: unknown = mover.prepare("PRAGMA user_version").get()
      mover.exec("BEGIN IMMEDIATE")
      const found = look()
      mover.exec(`PRAGMA user_version = ${(row as [version: number])[0]}; COMMIT`)
      return found
    },
    close: () => {
      letGo()
      mover.close()
      reader.close()
    },
  }
}

/**
 * The checkpoint worker. `move` copies the log into the file while the writer continues; a reader keeps every
 * process from starting the log over before the next step. `start_over` copies the rest, for which the writer
 * must wait, and starts the log over by a change that it makes, which also pays for the sync of its header.
 *
 * The thread gets it as text, because it runs unbuilt, built and bundled alike: it uses only its arguments.
 */
const checkpointThread = (connect: typeof openCheckpoint): void => {
  const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads")
  const attempts = 3
  const { file, keptBytes } = workerData as { readonly file: string; readonly keptBytes: number }
  const { change, checkpoint, close, hold, letGo, pages, readSalts } = connect(file, keptBytes)
  // The log of this checkpoint.
  let salts = readSalts()
  const answer = (use: { pages: number; moved: number }) => ({
    ...use,
    hasStartedOver: readSalts() !== salts,
  })
  const steps = {
    move: () => {
      letGo()
      salts = readSalts()
      hold()
      return answer(checkpoint("PASSIVE"))
    },
    start_over: (end?: LogPosition) => {
      letGo()
      for (let attempt = 1; ; attempt++) {
        const before = checkpoint("PASSIVE")
        if (before.pages > before.moved) return answer(before)
        const isAlone = change(() => readSalts() === end?.salts && pages() === end.pages)
        const after = answer(checkpoint("NOOP"))
        // Otherwise another process was reading the log, and the change was appended to it.
        if (after.hasStartedOver || attempt === attempts) return { ...after, isAlone }
      }
    },
  }
  parentPort?.on("message", (order: CheckpointOrder | "close") => {
    if (order === "close") {
      close()
      parentPort.close()
      return
    }
    try {
      parentPort.postMessage(steps[order.step](order.end))
    } catch (cause) {
      letGo()
      const failure = cause instanceof Error ? cause.message : String(cause)
      parentPort.postMessage({ failure } satisfies CheckpointReply)
    }
  })
}

// A checkpoint needs memory outside of the heap only.
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2, codeRangeSizeMb: 8 }

interface CheckpointWorkerOptions {
  readonly file: string
  /** The length to which a long log is cut when it starts over. */
  readonly keptBytes: number
}

/** A thread that runs the steps of checkpoints, one at a time. It starts with the first step. */
export class CheckpointWorker {
  readonly #options: CheckpointWorkerOptions
  #worker: Worker | undefined
  #reply: ((reply: CheckpointReply) => void) | undefined

  constructor(options: CheckpointWorkerOptions) {
    this.#options = options
  }

  /** Runs a step and calls `reply` with its outcome. No other step may be running. */
  run(order: CheckpointOrder, reply: (reply: CheckpointReply) => void): void {
    this.#reply = reply
    try {
      this.#worker ??= this.#start()
    } catch (cause) {
      // A host or a runtime that lets no thread begin. The caller still has to answer what it has committed.
      queueMicrotask(() => this.#answer({ failure: String(cause) }))
      return
    }
    this.#worker.ref()
    this.#worker.postMessage(order)
  }

  /** Ends the thread and calls `done` when its connections are closed. No step may be running. */
  close(done: () => void): void {
    if (this.#worker === undefined) return done()
    this.#worker.ref()
    this.#worker.once("exit", done)
    this.#worker.postMessage("close")
  }

  #start(): Worker {
    const worker = new Worker(`(${checkpointThread.toString()})(${openCheckpoint.toString()})`, {
      eval: true,
      workerData: this.#options,
      resourceLimits: RESOURCE_LIMITS,
      // The main thread has printed the warning.
      execArgv: ["--disable-warning=ExperimentalWarning"],
    })
    worker.on("message", (reply: CheckpointReply) => {
      // An idle thread must not keep the process from ending.
      worker.unref()
      this.#answer(reply)
    })
    worker.on("error", (cause) => this.#answer({ failure: String(cause) }))
    worker.on("exit", () => {
      // The next step starts another thread.
      if (this.#worker === worker) this.#worker = undefined
      this.#answer({ failure: "the checkpoint thread has ended" })
    })
    return worker
  }

  #answer(reply: CheckpointReply): void {
    const waiting = this.#reply
    this.#reply = undefined
    waiting?.(reply)
  }
}

interface CheckpointsOptions {
  readonly worker: Pick<CheckpointWorker, "run" | "close">
  readonly health: LogHealth
  /** The number of pages in use at which the log is moved into the file and starts over. */
  readonly checkpointPages: number
  /** Where the log ends, if the writer knows all that is in it. */
  readonly knownEnd: () => LogPosition | undefined
  /** Called when a checkpoint has ended, complete or not, with the end that its last change followed. */
  readonly onEnd: (followed: LogPosition | undefined) => void
}

const CHECKPOINT: ReadonlyArray<CheckpointStep> = ["move", "start_over"]

const RETRY_MILLIS = 1_000

const failureOf = (reply: CheckpointReply): string | undefined => {
  if ("failure" in reply) return reply.failure
  return reply.hasStartedOver ? undefined : "another process goes on reading from it"
}

/** A worker moves a long log while the writer continues; then the writer pauses and the log starts over. */
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

  /** Whether the writer has to wait because the log is starting over. */
  get isHeld(): boolean {
    return this.#isHeld
  }

  get failure(): string | undefined {
    return this.#failure
  }

  /** Starts a checkpoint if so many pages are in use that one is due. */
  consider(pages: number): void {
    if (pages >= this.#options.checkpointPages && this.#retry === undefined) this.#begin()
  }

  /** Ends the worker after the checkpoint under way, and calls `done`. */
  close(done: () => void): void {
    clearTimeout(this.#retry)
    this.#onIdle = () => this.#options.worker.close(done)
    if (!this.#isRunning) this.#onIdle()
  }

  #begin(): void {
    this.#retry = undefined
    const isClosed = this.#onIdle !== undefined
    if (!this.#isRunning && !isClosed && !this.#health.isFailed) this.#run(CHECKPOINT)
  }

  #run([step, ...rest]: ReadonlyArray<CheckpointStep>): void {
    if (step === undefined) return
    this.#isRunning = true
    this.#isHeld = step === "start_over"
    const end = this.#isHeld ? this.#options.knownEnd() : undefined
    this.#options.worker.run({ step, end }, (reply) => {
      // A sync that failed meanwhile ends the checkpoint: the log may not be what was written.
      if (!("failure" in reply) && rest.length > 0 && !this.#health.isFailed) this.#run(rest)
      else this.#end(reply, end)
    })
  }

  #end(reply: CheckpointReply, end: LogPosition | undefined): void {
    this.#isRunning = false
    this.#isHeld = false
    this.#failure = failureOf(reply)
    if (this.#onIdle !== undefined) this.#onIdle()
    else if (this.#failure !== undefined) this.#scheduleRetry()
    this.#options.onEnd("isAlone" in reply && reply.isAlone ? end : undefined)
  }

  #scheduleRetry(): void {
    this.#retry = setTimeout(() => this.#begin(), RETRY_MILLIS)
    this.#retry.unref()
  }
}
