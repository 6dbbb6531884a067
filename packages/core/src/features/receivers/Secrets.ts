import { Effect, Result, Struct } from "effect"
import type { PutSecretsRequest, StoredSecrets } from "@tocsin/contract/receivers/ReceiverSecrets"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { eachPage } from "../../kernel/engine/lists/readPage.ts"
import { secretMark, type ReceiverSecretsRecord } from "./ReceiverSecretsRecord.ts"
import { PolicySource } from "../../heart/usecases/PolicySource.ts"
import type { Storage, StorageError } from "../../kernel/ports/Storage.ts"
import { namedSecrets, type ReadSecrets } from "../../heart/policy/namedSecrets.ts"
import { encryptSecrets, openRow, openSecrets } from "./openSecrets.ts"
import { removeSecrets, storeSecrets, TOO_MANY } from "./secretDecisions.ts"
import { StateConflict } from "../../kernel/engine/OperationErrors.ts"
import { sealAgain } from "../../kernel/unitOfWork/sealAgain.ts"
import { SecretCipher, type SecretState, NO_KEY } from "../../kernel/ports/SecretCipher.ts"
import { operationPorts } from "../../heart/usecases/operationPorts.ts"

const BY_NAME = { list: "secrets", filter: {}, sort: "name", direction: "asc" } as const

const ANOTHER_POLICY =
  "another policy was stored at the same time: look whether it names these secrets, and try again"

const UNREAD_POLICY =
  "this process cannot read the newest stored policy, which may name these secrets: delete them with the version of Tocsin that stored it"

const nameInUse = (receiver: NotifierName) =>
  new StateConflict({
    message: `the receiver ${receiver} of the stored policy names these secrets: change or remove it first`,
  })

/** Makes a {@link ReadSecrets}. */
export const namedSecretsReader =
  ({ rows: read }: Pick<Storage["Service"], "rows">, cipher: SecretCipher | undefined): ReadSecrets =>
  (document) => {
    const names = Array.from(namedSecrets(document).keys())
    const found = names.length === 0 ? Effect.succeed([]) : read("receiver_secrets", names)
    return Effect.map(found, (rows) => ({
      marks: new Map(rows.map((row) => [row.name, secretMark(row)])),
      open: () => openSecrets(names, rows, cipher),
    }))
  }

type Names = ReturnType<typeof namedSecrets>

/** The stored secrets of receivers, for operators (docs/rules.md#stored-secrets). */
export const secretOperations = Effect.fnUntraced(function* (followedVersion: () => number | undefined) {
  const { commits, policy, signed, storage } = yield* operationPorts
  const { current } = policy
  const cipher = yield* SecretCipher
  const { follow } = yield* PolicySource

  const eachRow = (
    use: (
      row: ReceiverSecretsRecord,
      opened: ReturnType<typeof openRow>,
    ) => Effect.Effect<void, StorageError>,
  ) =>
    eachPage(storage, BY_NAME, (rows) =>
      Effect.forEach(rows, (row) => use(row, openRow(row, cipher)), { discard: true }),
    )
  const states = Effect.gen(function* () {
    const found: Array<{ readonly row: ReceiverSecretsRecord; readonly state: SecretState }> = []
    yield* eachRow((row, { state }) => Effect.sync(() => void found.push({ row, state })))
    return found
  })
  /** The newest stored version and what it names, whatever this process follows; without names if it cannot be read. */
  const newestNames = Effect.gen(function* () {
    const [newest] = yield* storage.policyVersions(0, 1)
    if (newest === undefined) return { version: 0, names: namedSecrets({}) }
    const { text, version } = newest
    if (version === followedVersion()) return { version, names: namedSecrets(current().document) }
    if (follow === undefined) return { version }
    const read = yield* Effect.result(follow(text))
    return Result.isFailure(read) ? { version } : { version, names: namedSecrets(read.success.document) }
  })
  const toResource = (row: ReceiverSecretsRecord, state: SecretState, names?: Names): StoredSecrets => ({
    ...Struct.pick(row, ["name", "keys", "changed_by", "changed_at"]),
    receiver: names?.get(row.name) ?? null,
    unreadable: state === "unreadable",
  })
  return {
    /** All rows, and what this process makes of each. */
    states,
    list: Effect.zipWith(states, newestNames, (found, { names }) => ({
      items: found.map(({ row, state }) => toResource(row, state, names)),
    })),
    /** Stores all secrets of one receiver. They count on every server within 5 s. */
    put: Effect.fn("Secrets.put")(function* (name: NotifierName, { values }: PutSecretsRequest) {
      if (cipher === undefined) return yield* new StateConflict({ message: NO_KEY })
      const row = yield* signed((by) => storeSecrets(encryptSecrets(name, values, cipher), by))
      if (row === undefined) return yield* new StateConflict({ message: TOO_MANY })
      const { names } = yield* newestNames
      return toResource(row, "readable", names)
    }),
    /** Deletes secrets that the newest stored policy does not name; count 0 if there are none of this name. */
    remove: Effect.fn("Secrets.remove")(function* (name: NotifierName) {
      const { names, version } = yield* newestNames
      if (names === undefined) return yield* new StateConflict({ message: UNREAD_POLICY })
      const receiver = names.get(name)
      if (receiver !== undefined) return yield* nameInUse(receiver)
      const count = yield* signed((by) => removeSecrets(name, version, by))
      return count === undefined ? yield* new StateConflict({ message: ANOTHER_POLICY }) : { count }
    }),
    /** Encrypts, by the first key, what only the second one opens. */
    encryptAgain: cipher?.keyIds[1]
      ? eachRow((row, { state, values }) =>
          state === "former" && values !== undefined
            ? commits.transact(
                sealAgain("receiver_secrets", row.name, row, encryptSecrets(row.name, values, cipher)),
              )
            : Effect.void,
        )
      : Effect.void,
  }
})
