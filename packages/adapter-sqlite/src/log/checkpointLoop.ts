import type { LogPosition } from "./LogPosition.ts"
import type { CheckpointConnections } from "./openCheckpoint.ts"
import type { LogReading } from "./verifyLog.ts"

/** One step of a checkpoint; see {@link checkpointLoop}. */
export type CheckpointStep = "verify" | "move" | "begin_anew"

/** A step, and up to where the log was acknowledged. */
export interface CheckpointOrder {
  readonly step: CheckpointStep
  readonly acknowledged: LogPosition
}

/** What became of a step: how far the log is moved and whether it started over since the first step, or why it failed. */
export type CheckpointReply =
  | { readonly pages: number; readonly moved: number; readonly hasStartedOver: boolean }
  | { readonly failure: string; readonly isSpoiled: boolean }

/** What a checkpoint worker is made of; functions come as text. */
export interface CheckpointParts {
  readonly openCheckpoint: (file: string, keptBytes: number) => CheckpointConnections
  readonly verifyLog: (log: string, reading: LogReading) => boolean
  readonly noteSpoiled: (file: string, acknowledged: LogPosition) => void
}

/**
 * What a checkpoint worker does, with connections of its own to `workerData.file`, each step when it is told to:
 *
 * - `verify` looks whether the log reads back as it was written; after a sync that failed that is not certain. What reads
 *   back is written again and synced, for the system may have it in memory alone and take it for synced. Nobody else may
 *   write meanwhile. A log that does not read back is noted beside the file.
 * - `move` writes what the log holds into the file. The writer goes on meanwhile. A reader is kept open from its start,
 *   so that nobody takes the log for done with and begins it anew before the next step.
 * - `begin_anew` writes the rest, which asks for a writer that waits, and begins the log anew with a change of its own, so
 *   that the sync of the log's header is the worker's too.
 *
 * It is handed to a thread as text, for it runs unbuilt, built and bundled alike: it uses nothing but its arguments.
 */
export const checkpointLoop = ({ openCheckpoint, verifyLog, noteSpoiled }: CheckpointParts): void => {
  const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads")
  const attempts = 3
  const { file, keptBytes } = workerData as { readonly file: string; readonly keptBytes: number }
  const { change, checkpoint, close, hold, letGo, readSalts, whileNobodyWrites } = openCheckpoint(
    file,
    keptBytes,
  )
  // The log that this checkpoint is about.
  let salts = readSalts()
  // The pages that a step before read back, wrote again and synced.
  let verified = ""
  const answer = (use: { pages: number; moved: number }) => ({
    ...use,
    hasStartedOver: readSalts() !== salts,
  })
  const steps = {
    verify: (acknowledged: LogPosition): CheckpointReply => {
      letGo()
      return whileNobodyWrites((use) => {
        salts = readSalts()
        const now = `${salts} ${use.pages}`
        if (now === verified || verifyLog(`${file}-wal`, { pages: use.pages, isWrittenAgain: true })) {
          verified = now
          return answer(use)
        }
        noteSpoiled(file, acknowledged)
        return { failure: "what the write-ahead log holds is not what was written to it", isSpoiled: true }
      })
    },
    move: () => {
      letGo()
      if (verified === "") salts = readSalts()
      hold()
      return answer(checkpoint("PASSIVE"))
    },
    begin_anew: () => {
      letGo()
      for (let attempt = 1; ; attempt++) {
        const before = checkpoint("PASSIVE")
        if (before.pages > before.moved) return answer(before)
        change()
        const after = answer(checkpoint("NOOP"))
        if (after.hasStartedOver) verified = ""
        // Otherwise somebody was reading from the log just then: the change stands behind the others.
        if (after.hasStartedOver || attempt === attempts) return after
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
      parentPort.postMessage(steps[order.step](order.acknowledged))
    } catch (cause) {
      verified = ""
      letGo()
      const failure = cause instanceof Error ? cause.message : String(cause)
      parentPort.postMessage({ failure, isSpoiled: false } satisfies CheckpointReply)
    }
  })
}
