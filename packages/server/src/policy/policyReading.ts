import { PolicyReader } from "@tocsin/adapter-http/policy/PolicyReader"
import type { PolicyPatch } from "@tocsin/contract/policy/PolicyPatch"
import type { PolicyIssue } from "@tocsin/contract/policy/Policies"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import type { PolicyNotifiers } from "@tocsin/core/heart/policy/compilePolicy"
import type { FollowedPolicy, ReceiverChange } from "@tocsin/core/heart/usecases/PolicySource"
import { Effect, Layer, Schema, Semaphore, Struct } from "effect"
import {
  patchOrRefusal,
  type PolicyReading,
  readHere,
  type ReadPolicy,
} from "tocsin/internal/policy/policyReading"
import { policyNotifiers } from "../rules.ts"
import type { Settings } from "../settings/Settings.ts"
import { askThread, type Order } from "../threads/askThread.ts"
import { watchProblem, type WatchTargets, watchTargets } from "../features/watches/watchTargets.ts"

/** A reading that the watches' targets may judge, as plain data. */
interface ServerReading extends PolicyReading {
  /** The targets that its watches may have; absent if they are not judged. */
  readonly targets?: WatchTargets
}

const readWith = ({ targets, ...reading }: ServerReading) =>
  readHere(reading, targets && watchProblem(targets))

interface PolicyOrder extends Order, ServerReading {
  readonly work: "policy"
}

type Reply = ReadPolicy<typeof PolicyDocument.Encoded>

/** Reads a policy in the thread. Durations do not survive the way back. */
export const runPolicyThread = (order: PolicyOrder): Promise<Reply> =>
  Effect.runPromise(
    Effect.map(readWith(order), ({ document, ...others }) => ({
      document: document && Schema.encodeSync(PolicyDocument)(document),
      ...others,
    })),
  )

/** Each byte takes up to 4 µs. A thread takes longer to start than a text of this length to read. */
const SHORT = 4_096
const LIMITS = { maxMegabytes: 1_024 }
const oneAtATime = Semaphore.makeUnsafe(1).withPermits(1)

/** Reads a policy: a long one on a thread, because it takes a second, and heartbeats wait for no policy. */
const readAnywhere = (reading: ServerReading): Effect.Effect<ReadPolicy> => {
  const { change = "", patch = "", text } = reading
  const isShort = text.length + JSON.stringify([change, patch]).length <= SHORT
  const order: PolicyOrder = { work: "policy", ...reading }
  return isShort
    ? readWith(reading)
    : Effect.map(oneAtATime(askThread<Reply>(order, LIMITS)), ({ document: sent, ...others }) => ({
        document: sent && Schema.decodeSync(PolicyDocument)(sent),
        ...others,
      }))
}

const read = Effect.fnUntraced(function* (
  reading: ServerReading,
): Effect.fn.Return<FollowedPolicy & Pick<ReadPolicy, "text">, ReadonlyArray<PolicyIssue>> {
  const { document, issues, text } = yield* readAnywhere(reading)
  return document === undefined ? yield* Effect.fail(issues) : { document, outdated: issues, text }
})

/** As plain data. */
const plain = (given: PolicyNotifiers): PolicyReading["given"] =>
  Struct.pick(given, [
    "elsewhere",
    "extensions",
    "hasMailServer",
    "keepsNotifiers",
    "notifierKinds",
    "notifiers",
  ])

/** How a new policy is read by these settings. */
const asApplied = (settings: Settings, elsewhere: ReadonlyArray<NotifierName>) => ({
  given: plain({ ...policyNotifiers(settings), elsewhere }),
  targets: watchTargets(settings),
  as: "applied" as const,
  isFolderMissing: settings.SERVICE_SECRETS_DIR === undefined,
})

/** Reads the policy of a text with changes made, by these settings. */
export const readPatched = (
  text: string,
  settings: Settings,
  elsewhere: ReadonlyArray<NotifierName>,
  patch: PolicyPatch,
) => Effect.flatMap(readAnywhere({ ...asApplied(settings, elsewhere), text, patch }), patchOrRefusal)

/** Reads a new policy by these settings; with a change, the policy of that text with one receiver changed. */
export const readApplied = (
  text: string,
  settings: Settings,
  elsewhere: ReadonlyArray<NotifierName>,
  change?: ReceiverChange,
) =>
  Effect.map(
    read({ ...asApplied(settings, elsewhere), text, change }),
    ({ document, text: edited = text }) => ({ document, text: edited }),
  )

/** Reads the stored policy. It remains in force when the settings change; its watches then show their refusal. */
export const readStored = (text: string, settings: Settings) =>
  read({ text, given: plain(policyNotifiers(settings)), as: "stored", isFolderMissing: false })

/** Reads a policy as the file of a server with these settings. */
export const readGiven = (text: string, given: PolicyNotifiers, settings: Settings) =>
  Effect.map(
    read({ text, given: plain(given), targets: watchTargets(settings), as: "file", isFolderMissing: false }),
    ({ document }) => document,
  )

/** Reads policies for the API of a server with these settings. */
export const policyReader = (settings: Settings) =>
  Layer.succeed(PolicyReader, (text, given) => readGiven(text, given, settings))
