/** One step of a checkpoint; see {@link checkpointThread}. */
export type CheckpointStep = "move" | "start_over"

/**
 * The outcome of a step: how many pages the log has and how many are moved, and whether it has
 * started over since the first step; or why the step failed.
 */
export type CheckpointReply =
  | { readonly pages: number; readonly moved: number; readonly hasStartedOver: boolean }
  | { readonly failure: string }

/**
 * Opens the connections of a checkpoint: one that moves pages and one that reads. The worker gets
 * it as text, so it uses only its arguments.
 */
export const openCheckpoint = (file: string, keptBytes: number) => {
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
    /** The salts in the log's header, which change when it starts over. */
    readSalts: () => {
      const descriptor = openSync(`${file}-wal`, "r")
      const salts = Buffer.alloc(8)
      readSync(descriptor, salts, 0, 8, 16)
      closeSync(descriptor)
      return salts.toString("hex")
    },
    /** Keeps every process from starting the log over, until `letGo`. */
    hold: () => {
      reader.exec("BEGIN")
      reader.prepare("SELECT 1 FROM sqlite_schema").get()
    },
    letGo,
    /** Commits the smallest change, which starts over a log that is moved and has no reader. */
    change: () => {
      const row: unknown = mover.prepare("PRAGMA user_version").get()
      mover.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${(row as [version: number])[0]}; COMMIT`)
    },
    close: () => {
      letGo()
      mover.close()
      reader.close()
    },
  }
}

/**
 * The checkpoint worker, which has its own connections to `workerData.file` and runs steps on
 * order:
 *
 * - `move` copies the log into the file while the writer continues. It starts by opening a reader,
 *   so that no process starts the log over before the next step.
 * - `start_over` copies the rest, for which the writer must wait, and starts the log over by a
 *   change of its own, so that the worker also pays for the sync of the log's header.
 *
 * The thread gets it as text, because it runs unbuilt, built and bundled alike: it uses only its
 * arguments.
 */
export const checkpointThread = (connect: typeof openCheckpoint): void => {
  const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads")
  const attempts = 3
  const { file, keptBytes } = workerData as { readonly file: string; readonly keptBytes: number }
  const { change, checkpoint, close, hold, letGo, readSalts } = connect(file, keptBytes)
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
    start_over: () => {
      letGo()
      for (let attempt = 1; ; attempt++) {
        const before = checkpoint("PASSIVE")
        if (before.pages > before.moved) return answer(before)
        change()
        const after = answer(checkpoint("NOOP"))
        // Otherwise another process was reading the log, and the change was appended to it.
        if (after.hasStartedOver || attempt === attempts) return after
      }
    },
  }
  parentPort?.on("message", (order: CheckpointStep | "close") => {
    if (order === "close") {
      close()
      parentPort.close()
      return
    }
    try {
      parentPort.postMessage(steps[order]())
    } catch (cause) {
      letGo()
      const failure = cause instanceof Error ? cause.message : String(cause)
      parentPort.postMessage({ failure } satisfies CheckpointReply)
    }
  })
}
