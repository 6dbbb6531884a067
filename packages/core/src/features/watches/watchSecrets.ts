import { Effect } from "effect"
import { Commits } from "../../kernel/engine/commits/Commits.ts"
import { eachPage } from "../../kernel/engine/lists/readPage.ts"
import { ALL_WATCHES, type WatchRecord, type WatchTerms } from "./WatchRecord.ts"
import { Storage, type StorageError } from "../../kernel/ports/Storage.ts"
import { NO_KEY, SecretCipher, type SecretState } from "../../kernel/ports/SecretCipher.ts"
import { isPlain, openProbe, sealed } from "./watchHeaders.ts"
import { sealHeaders } from "./watchDecisions.ts"
import { StateConflict } from "../../kernel/engine/OperationErrors.ts"
import { otherVersionRuns, ReplicaVersion } from "../../heart/usecases/Replicas.ts"

/**
 * Encrypts the secrets of a watch that an operator gives, unless a server runs that cannot open them: it would
 * probe without.
 */
export const headerSealing = Effect.gen(function* () {
  const storage = yield* Storage
  const cipher = yield* SecretCipher
  const version = yield* ReplicaVersion
  return Effect.fnUntraced(function* (terms: WatchTerms) {
    if (!isPlain(terms)) return terms
    if (cipher === undefined) return yield* new StateConflict({ message: NO_KEY })
    return (yield* otherVersionRuns(storage, version)) ? terms : sealed(terms, cipher)
  })
})

/** The secrets of all watches, as this process opens them (docs/rules.md#stored-secrets). */
export const watchSecrets = Effect.gen(function* () {
  const storage = yield* Storage
  const commits = yield* Commits
  const cipher = yield* SecretCipher
  const version = yield* ReplicaVersion
  const eachWatch = (use: (row: WatchRecord) => Effect.Effect<void, StorageError>) =>
    eachPage(storage, ALL_WATCHES, (rows) => Effect.forEach(rows, use, { discard: true }))
  return {
    /** The state of the secrets of each watch that has some. */
    states: Effect.gen(function* () {
      const found: Array<{ readonly row: WatchRecord; readonly state: SecretState | "plain" }> = []
      yield* eachWatch((row) =>
        Effect.sync(() => void found.push({ row, state: openProbe(row, cipher).state })),
      )
      return found.filter(({ state }) => state !== "absent")
    }),
    /** Encrypts by the first key those in clear, and those of the second one. Fails while another version runs. */
    seal: Effect.gen(function* () {
      if (cipher === undefined) return
      // Also while there are none: such a server may still store some.
      if (yield* otherVersionRuns(storage, version)) return yield* Effect.fail({ isMixed: true })
      yield* eachWatch((row) => {
        const { probe, state } = openProbe(row, cipher)
        const lacksNames = row.headers !== undefined && row.headers.names === undefined
        return probe === undefined || (state !== "plain" && state !== "former" && !lacksNames)
          ? Effect.void
          : commits.transact(sealHeaders(row, sealed({ ...row, probe }, cipher)))
      })
    }),
  }
})
