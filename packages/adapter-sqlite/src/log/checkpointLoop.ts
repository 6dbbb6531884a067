/** One step of a checkpoint; see {@link checkpointLoop}. */
export type CheckpointStep = "verify" | "move" | "begin_anew"

/** What became of a step: how much of the log is in use after it, or why it failed. */
export type CheckpointReply =
  | { readonly pages: number; readonly moved: number }
  | { readonly failure: string }

/**
 * What a checkpoint worker does, with connections of its own to `workerData.file`, each step when it is told to:
 *
 * - `verify` looks whether the log reads back as it was written; after a sync that failed that is not certain.
 * - `move` writes what the log holds into the file. The writer goes on meanwhile. A reader is kept open from its start,
 *   so that nobody takes the log for done with and begins it anew before the next step.
 * - `begin_anew` writes the rest, which asks for a writer that waits, and begins the log anew with a change of its own, so
 *   that the sync of the log's header is the worker's too.
 *
 * It is handed to a thread as text, for it runs unbuilt, built and bundled alike: it uses nothing but its arguments.
 */
export const checkpointLoop = (isIntact: (log: string, pages: number) => boolean): void => {
  const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads")
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
  // Longer than other processes write, shorter than the writer should wait.
  const busyMillis = 100
  const attempts = 3
  const { file, keptBytes } = workerData as { readonly file: string; readonly keptBytes: number }
  const open = () => new DatabaseSync(file, { timeout: busyMillis, returnArrays: true })
  const reader = open()
  const mover = open()
  mover.exec(
    `PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = ${keptBytes}`,
  )
  const checkpoint = (mode: "PASSIVE" | "NOOP") => {
    const row: unknown = mover.prepare(`PRAGMA wal_checkpoint(${mode})`).get()
    const [, pages = 0, moved = 0] = row as [busy: number, pages: number, moved: number]
    return { pages, moved }
  }
  const letGo = () => {
    if (reader.isTransaction) reader.exec("COMMIT")
  }
  const steps = {
    verify: () => {
      const use = checkpoint("NOOP")
      if (isIntact(`${file}-wal`, use.pages)) return use
      throw new Error("what the write-ahead log holds is not what was written to it")
    },
    move: () => {
      letGo()
      reader.exec("BEGIN")
      reader.prepare("SELECT 1 FROM sqlite_schema").get()
      return checkpoint("PASSIVE")
    },
    begin_anew: () => {
      letGo()
      for (let attempt = 1; ; attempt++) {
        const before = checkpoint("PASSIVE")
        if (before.pages > before.moved) return before
        const row: unknown = mover.prepare("PRAGMA user_version").get()
        mover.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${(row as [version: number])[0]}; COMMIT`)
        const after = checkpoint("NOOP")
        // Somebody was reading from the log just then: the change stands behind the others.
        if (after.pages < before.pages || attempt === attempts) return after
      }
    },
  }
  parentPort?.on("message", (step: CheckpointStep | "close") => {
    if (step === "close") {
      letGo()
      mover.close()
      reader.close()
      parentPort.close()
      return
    }
    try {
      parentPort.postMessage(steps[step]() satisfies CheckpointReply)
    } catch (cause) {
      if (mover.isTransaction) mover.exec("ROLLBACK")
      letGo()
      const failure = cause instanceof Error ? cause.message : String(cause)
      parentPort.postMessage({ failure } satisfies CheckpointReply)
    }
  })
}
