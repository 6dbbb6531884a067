import { PolicyReader } from "@tocsin/adapter-http/policy/PolicyReader"
import type { TargetPolicy } from "@tocsin/adapter-notify/http/Target"
import { secretPlaceProblems } from "@tocsin/adapter-notify/receiverSecrets"
import type { PolicyIssue } from "@tocsin/contract/Policies"
import { PolicyDocument } from "@tocsin/contract/PolicyDocument"
import type { PolicyNotifiers } from "@tocsin/core/policy/compilePolicy"
import type { FollowedPolicy } from "@tocsin/core/ports/PolicySource"
import { Effect, Layer, Result, Schema, Semaphore } from "effect"
import { policyNotifiers } from "../rules.ts"
import type { Settings } from "../settings/Settings.ts"
import { askThread, type Order } from "../threads/askThread.ts"
import { watchProblem, watchTargets } from "../watchTargets.ts"

/** A text of a policy and how it is judged, as plain data. */
interface PolicyReading {
  readonly text: string
  readonly given: Omit<PolicyNotifiers, "watchProblem">
  /** The targets that its watches may have; absent if they are not judged. */
  readonly targets?: TargetPolicy
  /** One that is applied names only what servers may read; one that is stored may be of an earlier version. */
  readonly as: "file" | "applied" | "stored"
  readonly isFolderMissing: boolean
}

/** A valid policy, or why there is none. One that is stored may have issues and be followed. */
interface ReadPolicy<Document = PolicyDocument> {
  readonly document?: Document | undefined
  readonly issues: ReadonlyArray<PolicyIssue>
}

const readHere = ({ as, given, isFolderMissing, targets, text }: PolicyReading): Effect.Effect<ReadPolicy> =>
  Effect.map(
    // The parser of YAML is loaded by the first policy that is read.
    Effect.promise(() => import("@tocsin/adapter-http/policy/readPolicyText")),
    ({ openPolicyText }) => {
      const judged = { ...given, watchProblem: targets && watchProblem(targets) }
      const opened = openPolicyText(text, judged)
      if (Result.isFailure(opened)) return { issues: opened.failure }
      const { accept, followed, sound } = opened.success
      const kept = as === "stored" ? followed() : undefined
      const named = kept?.document.receivers ?? sound().receivers ?? {}
      const misplaced = as === "file" ? [] : secretPlaceProblems(named, isFolderMissing)
      if (kept !== undefined && misplaced.length === 0)
        return { document: kept.document, issues: kept.outdated }
      return Result.match(accept(misplaced), {
        onSuccess: (document) => ({ document, issues: [] }),
        onFailure: (issues) => ({ issues }),
      })
    },
  )

interface PolicyOrder extends Order, PolicyReading {
  readonly work: "policy"
}

type Reply = ReadPolicy<typeof PolicyDocument.Encoded>

/** Reads a policy in the thread. Durations do not survive the way back. */
export const runPolicyThread = (order: PolicyOrder): Promise<Reply> =>
  Effect.runPromise(
    Effect.map(readHere(order), ({ document, issues }) => ({
      document: document && Schema.encodeSync(PolicyDocument)(document),
      issues,
    })),
  )

/** Each byte takes up to 4 µs. A thread takes longer to start than a text of this length to read. */
const SHORT = 4_096
const LIMITS = { maxMegabytes: 1_024 }
const oneAtATime = Semaphore.makeUnsafe(1).withPermits(1)

/** Reads a policy: a long one on a thread, because it takes a second, and heartbeats wait for no policy. */
const read = Effect.fnUntraced(function* (
  reading: PolicyReading,
): Effect.fn.Return<FollowedPolicy, ReadonlyArray<PolicyIssue>> {
  const isShort = reading.text.length <= SHORT
  const order: PolicyOrder = { work: "policy", ...reading }
  const { document, issues } = isShort
    ? yield* readHere(reading)
    : yield* Effect.map(oneAtATime(askThread<Reply>(order, LIMITS)), ({ document: sent, ...others }) => ({
        document: sent && Schema.decodeSync(PolicyDocument)(sent),
        ...others,
      }))
  return document === undefined ? yield* Effect.fail(issues) : { document, outdated: issues }
})

/** As plain data. */
const plain = ({ keepsNotifiers, notifierKinds, notifiers }: PolicyNotifiers) => ({
  keepsNotifiers,
  notifierKinds,
  notifiers,
})

/** Reads a new policy by these settings. */
export const readApplied = (text: string, settings: Settings) => {
  const isFolderMissing = settings.SERVICE_SECRETS_DIR === undefined
  const [given, targets] = [plain(policyNotifiers(settings)), watchTargets(settings)]
  return Effect.map(
    read({ text, given, targets, as: "applied", isFolderMissing }),
    ({ document }) => document,
  )
}

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
