import { Duration, Effect, Redacted, Result } from "effect"
import { fieldPath } from "@tocsin/contract/formats/describeIssue"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { ValidationError } from "@tocsin/contract/formats/Errors"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { type SecretValues, storedNameOf } from "@tocsin/contract/receivers/ReceiverSecrets"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { Notifier } from "../../heart/notifications/Notifiers.ts"
import { cutText, plain } from "../../heart/notifications/cutText.ts"
import { policyHash } from "../../heart/policy/applyPolicy.ts"
import type { PolicyNotifiers } from "../../heart/policy/compilePolicy.ts"
import { noteTested } from "../../heart/notifications/refusingReceivers.ts"
import { PolicyInForce } from "../../heart/policy/PolicyInForce.ts"
import { readPolicyBy } from "../../heart/policy/readPolicy.ts"
import { Commits } from "../../kernel/engine/commits/Commits.ts"
import { Hashing } from "../../kernel/ports/Hashing.ts"
import { PolicySource, type ReceiverChange } from "../../heart/usecases/PolicySource.ts"
import type { OpenedSecrets } from "../../heart/policy/namedSecrets.ts"
import { Ids, newId } from "../../kernel/ports/Ids.ts"
import { Storage } from "../../kernel/ports/Storage.ts"
import { type EncryptedSecrets, encryptSecrets } from "./openSecrets.ts"
import { dropSecrets, putSecrets, TOO_MANY } from "./secretDecisions.ts"
import type { Signature } from "../../heart/audit/recordAudit.ts"
import type { Decision } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import { ANOTHER, type Application, type StorePolicy } from "../../heart/usecases/applyingPolicies.ts"
import { invalidPolicy, NO_RULES } from "../../heart/usecases/followStoredPolicy.ts"
import { AnotherPolicy, NotFound, StateConflict } from "../../kernel/engine/OperationErrors.ts"
import { SecretCipher, NO_KEY } from "../../kernel/ports/SecretCipher.ts"

const NO_RECEIVER = "the stored policy defines no receiver of this name: list them with GET /ops/v1/policy"

const pasted = ({ name, receiver }: ReceiverChange): string =>
  receiver === undefined
    ? `. The entry to remove from receivers: ${name}`
    : `. The line to paste under receivers:   ${name}: ${JSON.stringify(receiver)}`

/** The longest message of an answer. */
const MOST_CHARACTERS = 1_000

const readReceivers = readPolicyBy([])

/** Where a file or a program decides: refuses a valid entry with the lines to paste there. */
const refuseGiven = (
  { advice, mailing, outside }: { advice: string; mailing: PolicyDocument; outside: PolicyNotifiers },
  given: ReceiverChange,
  { name, receiver }: ReceiverChange,
): Effect.Effect<never, StateConflict | ValidationError> => {
  const document = receiver === undefined ? {} : { ...mailing, receivers: { [name]: receiver } }
  const read = readReceivers(document, [], { hasMailServer: outside.hasMailServer })
  if (Result.isSuccess(read)) {
    const message = cutText(`${advice}${pasted(given)}`, { escape: plain, limit: MOST_CHARACTERS })
    return Effect.fail(new StateConflict({ message }))
  }
  const issues = read.failure.map(({ message, path }) => ({ line: 1, message, path: fieldPath(path) }))
  return Effect.fail(invalidPolicy(issues))
}

type Edit = Extract<PolicySource, { readonly source: "stored" }>["edit"]

export interface ReceiverWithSecrets extends ReceiverChange {
  readonly values?: SecretValues | undefined
}

/** The entry names the secrets that are given with it, by its own name unless it has another. */
const namingSecrets = ({ name, receiver, values }: ReceiverWithSecrets): ReceiverChange => {
  const { secrets = name } = Object(receiver)
  return { name, receiver: values === undefined ? receiver : { ...Object(receiver), secrets } }
}

const secretsOf = ({ receivers = {} }: PolicyDocument, name: NotifierName): NotifierName | undefined => {
  const receiver = receivers[name]
  return receiver && storedNameOf(receiver)
}

function* putOrRefuse(
  unit: UnitOfWork,
  secrets: EncryptedSecrets,
  by: Signature,
): Decision<string | undefined> {
  return (yield* putSecrets(unit, secrets, by)) === undefined ? TOO_MANY : undefined
}

const storing = (secrets: EncryptedSecrets) => (unit: UnitOfWork, by: Signature) =>
  putOrRefuse(unit, secrets, by)

const dropping = (name: NotifierName) => (unit: UnitOfWork, by: Signature) => dropSecrets(unit, name, by)

/** So many of the last versions are looked at for a repeated removal: as many as one read has. */
const REPEATABLE = 10

const valuesOf = (row: NotifierName | undefined, values: SecretValues | undefined): OpenedSecrets =>
  row === undefined || values === undefined ? new Map() : new Map([[row, Result.succeed(values)]])

/** After this, a test says nothing of a receiver that is stored. */
const TESTED_FOR = Duration.minutes(10)

/** The last receiver that took a test as it would be: once it is stored so, soon, that test is its own. */
const keepingTests = Effect.gen(function* () {
  const commits = yield* Commits
  const ids = yield* Ids
  const inForce = yield* PolicyInForce
  const { sha256 } = yield* Hashing
  let taken: { readonly digest: string; readonly at: Instant.Instant } | undefined
  /** Of the entry and its secrets: those that are given with it, and which of the stored ones it names. */
  const digestOf = ({ name, receiver, values = {} }: ReceiverWithSecrets): string => {
    const { secrets = name } = Object(receiver)
    const given = Object.entries(values).map(([key, value]) => [key, value && Redacted.value(value)])
    return sha256(JSON.stringify([name, receiver, given, inForce.current().secretMarks?.get(secrets)]))
  }
  const noting = Effect.fnUntraced(function* (digest: string, name: NotifierName) {
    if (digest !== taken?.digest) return
    const { at } = taken
    taken = undefined
    if (Instant.isRecent(at, TESTED_FOR, yield* Instant.now))
      // The receiver is stored already: that is not in vain if this cannot be noted.
      yield* Effect.ignore(commits.transact(noteTested(name, () => newId(ids)(at))))
  })
  return {
    took: (given: ReceiverWithSecrets) =>
      Effect.map(Instant.now, (at) => void (taken = { digest: digestOf(given), at })),
    /** Notes it after a receiver is stored, by the secrets that are stored before. */
    stored: (given: ReceiverWithSecrets) => noting(digestOf(given), given.name),
  }
})

/** Returns a function that changes one receiver of the stored policy, with its secrets (docs/rules.md#a-stored-policy). */
export const changingReceivers = Effect.fnUntraced(function* (
  { openWith, plainSecrets, store }: StorePolicy,
  bind: (notifier: Notifier) => Notifier,
) {
  const inForce = yield* PolicyInForce
  const tests = yield* keepingTests
  const storage = yield* Storage
  const source = yield* PolicySource
  const cipher = yield* SecretCipher
  const none = policyHash({}, yield* Hashing)
  /** Whether a stored version with this hash had the receiver, so that its removal is repeated. */
  const had = Effect.fnUntraced(function* (hash: string, change: ReceiverChange, edit: Edit) {
    const found = (yield* storage.policyVersions(0, REPEATABLE)).find((each) => each.hash === hash)
    if (found === undefined) return false
    const edited = yield* Effect.result(edit(found.text, change, inForce.elsewhere()))
    return Result.isFailure(edited) || edited.success.text !== found.text
  })
  /** A policy with nothing but the mail server of the one in force. */
  const mailing = (): PolicyDocument => {
    const { mail } = inForce.current().document
    return mail === undefined ? {} : { mail }
  }
  const refuse = (advice: string, given: ReceiverChange, change: ReceiverChange) =>
    refuseGiven({ advice, mailing: mailing(), outside: inForce.given() }, given, change)
  return {
    /**
     * Stores the policy with one receiver changed or removed, like `apply`. Without `confirm`, {@link refuseSilence}
     * applies too. Its secrets are stored, or deleted, in the same transaction. A change that is made already stores
     * nothing, whatever it was to replace: without secrets, it is safe to repeat. Only a receiver that one of the last
     * versions had counts as removed.
     */
    changeReceiver: Effect.fn("Policies.changeReceiver")(function* (
      { values, ...given }: ReceiverWithSecrets,
      application: Application & { readonly replaces: string },
    ) {
      const change = namingSecrets({ values, ...given })
      if (source.source === "given") return yield* refuse(source.advice, given, change)
      if (values !== undefined && cipher === undefined) return yield* new StateConflict({ message: NO_KEY })
      const [newest] = yield* storage.policyVersions(0, 1)
      const { hash, text, version } = newest ?? { hash: none, text: `${NO_RULES}\n`, version: 0 }
      const edited = yield* Effect.mapError(source.edit(text, change, inForce.elsewhere()), invalidPolicy)
      const isMade = edited.text === text
      const isPresent = application.replaces === hash
      if (isMade && change.receiver === undefined && !(yield* had(application.replaces, change, source.edit)))
        return yield* new NotFound({ message: NO_RECEIVER })
      if (!isPresent && (!isMade || values !== undefined))
        return yield* new AnotherPolicy({ message: ANOTHER })
      const row = secretsOf(edited.document, change.name)
      const encrypted =
        values !== undefined && row !== undefined && cipher !== undefined
          ? encryptSecrets(row, values, cipher)
          : undefined
      const stores = encrypted && storing(encrypted)
      const by = { name: change.name, stores }
      const applying = { ...application, of: version }
      if (change.receiver !== undefined)
        return yield* Effect.tap(
          store(edited, applying, { ...by, action: "receiver.changed" }, valuesOf(row, values)),
          tests.stored({ values, ...given }),
        )
      const dropped = secretsOf(inForce.current().document, change.name)
      const drops = dropped === undefined ? undefined : dropping(dropped)
      return yield* store(edited, applying, { ...by, action: "receiver.removed", drops })
    }),
    /** Sends a test message to a receiver as it would be, and stores nothing. */
    tryReceiver: Effect.fn("Policies.tryReceiver")(function* ({ values, ...given }: ReceiverWithSecrets) {
      const change = namingSecrets({ values, ...given })
      if (source.source === "given") return yield* refuse(source.advice, given, change)
      const edited = source.edit(JSON.stringify(mailing()), change, [])
      const { document } = yield* Effect.mapError(edited, invalidPolicy)
      const row = secretsOf(document, change.name)
      yield* plainSecrets.prevent(document, values && row)
      const opened = yield* openWith(document, valuesOf(row, values))
      const receipt = yield* source.test(document, opened, bind)
      if (receipt.result.outcome === "delivered") yield* tests.took({ values, ...given })
      return receipt
    }),
  }
})
