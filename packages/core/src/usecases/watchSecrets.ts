import { Effect } from "effect"
import { Commits } from "../engine/commits/Commits.ts"
import { eachPage } from "../engine/lists/readPage.ts"
import type { WatchRecord, WatchTerms } from "../model/WatchRecord.ts"
import { SecretCipher } from "../ports/SecretCipher.ts"
import { Storage, type StorageError } from "../ports/Storage.ts"
import type { SecretState } from "../secrets/openSecrets.ts"
import { isPlain, openProbe, sealed } from "../secrets/watchHeaders.ts"
import { sealHeaders } from "../watches/watchDecisions.ts"
import { StateConflict } from "./OperationErrors.ts"
import { otherVersionRuns, ReplicaVersion } from "./Replicas.ts"

export const NO_KEY =
  "there is no key for stored secrets: set SERVICE_SECRETS_KEY to 64 hex digits (openssl rand -hex 32), the same on every server; with the embedded database, start the server once, which makes one"

const BY_NAME = { list: "watches", filter: {}, sort: "name", direction: "asc" } as const

/**
 * Encrypts the header fields of a watch that an operator gives, unless a server runs that cannot open them: it would
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

/** The header fields of all watches, as this process opens them (docs/rules.md#stored-secrets). */
export const watchSecrets = Effect.gen(function* () {
  const storage = yield* Storage
  const commits = yield* Commits
  const cipher = yield* SecretCipher
  const version = yield* ReplicaVersion
  const eachWatch = (use: (row: WatchRecord) => Effect.Effect<void, StorageError>) =>
    eachPage(storage, BY_NAME, (rows) => Effect.forEach(rows, use, { discard: true }))
  return {
    /** The state of the header fields of each watch that has some. */
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
      const isMixed = yield* otherVersionRuns(storage, version)
      let left = 0
      yield* eachWatch((row) => {
        const { probe, state } = openProbe(row, cipher)
        if (probe === undefined || (state !== "plain" && state !== "former")) return Effect.void
        if (isMixed) return Effect.sync(() => void left++)
        return commits.transact(sealHeaders(row, sealed({ ...row, probe }, cipher)))
      })
      if (left > 0) return yield* Effect.fail({ left })
    }),
  }
})
