/** How much of a log is in use, and how much of that was moved into the file. */
interface LogUse {
  readonly pages: number
  readonly moved: number
}

/** What the steps of a checkpoint are made of. */
export interface CheckpointConnections {
  readonly checkpoint: (mode: "PASSIVE" | "NOOP") => LogUse
  /** The salts in the log's header, which change when it starts over. */
  readonly readSalts: () => string
  /** Keeps everybody from beginning the log anew, until `letGo`. */
  readonly hold: () => void
  readonly letGo: () => void
  /** Commits the smallest change there is, which begins a log anew that is moved and not read. */
  readonly change: () => void
  /** Runs `use` while nobody else can write. */
  readonly whileNobodyWrites: <A>(use: (log: LogUse) => A) => A
  readonly close: () => void
}

/**
 * Opens what a checkpoint needs: a connection that moves and one that reads. It is handed to the checkpoint worker as text:
 * it uses nothing but its arguments.
 */
export const openCheckpoint = (file: string, keptBytes: number): CheckpointConnections => {
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
    letGo,
    checkpoint: (mode) => use(mover, mode),
    readSalts: () => {
      const descriptor = openSync(`${file}-wal`, "r")
      const salts = Buffer.alloc(8)
      readSync(descriptor, salts, 0, 8, 16)
      closeSync(descriptor)
      return salts.toString("hex")
    },
    hold: () => {
      reader.exec("BEGIN")
      reader.prepare("SELECT 1 FROM sqlite_schema").get()
    },
    change: () => {
      const row: unknown = mover.prepare("PRAGMA user_version").get()
      mover.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${(row as [version: number])[0]}; COMMIT`)
    },
    whileNobodyWrites: (work) => {
      mover.exec("BEGIN IMMEDIATE")
      try {
        // Of the other connection: one in a transaction may not ask.
        return work(use(reader, "NOOP"))
      } finally {
        letGo()
      }
    },
    close: () => {
      letGo()
      mover.close()
      reader.close()
    },
  }
}
