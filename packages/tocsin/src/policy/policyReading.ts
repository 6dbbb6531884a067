import type { PolicyText } from "@tocsin/adapter-http/policy/readPolicyText"
import { secretPlaceProblems } from "@tocsin/adapter-notify/receiverSecrets"
import type { PolicyPatch } from "@tocsin/contract/policy/PolicyPatch"
import type { PolicyIssue } from "@tocsin/contract/policy/Policies"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import type { PolicyNotifiers } from "@tocsin/core/heart/policy/compilePolicy"
import type { PatchRefusal, ReadPatch, ReceiverChange } from "@tocsin/core/heart/usecases/PolicySource"
import { Effect, Result } from "effect"

/** A text of a policy and how it is judged, as plain data. */
export interface PolicyReading {
  readonly text: string
  /** Changes the text before it is read: of one receiver, or by a patch. */
  readonly change?: ReceiverChange | undefined
  readonly patch?: PolicyPatch
  readonly given: Omit<PolicyNotifiers, "watchProblem">
  /** One that is applied names only what servers may read; one that is stored may be of an earlier version. */
  readonly as: "file" | "applied" | "stored"
  readonly isFolderMissing: boolean
}

/** A valid policy, or why there is none. One that is stored may have issues and be followed. */
export interface ReadPolicy<Document = PolicyDocument> {
  readonly document?: Document | undefined
  /** The text that it has; absent where it was read unchanged. */
  readonly text?: string | undefined
  /** Why a patch could not be made. */
  readonly refusal?: PatchRefusal | undefined
  readonly issues: ReadonlyArray<PolicyIssue>
}

/** The text of a policy, after a change if there is one. The parser of YAML is loaded by the first that is read. */
const open = Effect.fnUntraced(function* (
  { change, text }: PolicyReading,
  judged: PolicyNotifiers,
): Effect.fn.Return<PolicyText & { readonly text?: string }, ReadonlyArray<PolicyIssue>> {
  if (change === undefined) {
    const { openPolicyText } = yield* Effect.promise(
      () => import("@tocsin/adapter-http/policy/readPolicyText"),
    )
    return yield* Effect.fromResult(openPolicyText(text, judged))
  }
  const { openEditedText } = yield* Effect.promise(
    () => import("@tocsin/adapter-http/features/receivers/editReceiver"),
  )
  return yield* Effect.fromResult(openEditedText(text, change, judged))
})

/** Makes changes in a text, and reads what it is then. */
const readPatched = Effect.fnUntraced(function* (
  { patch = [], ...reading }: PolicyReading,
  watchProblem: PolicyNotifiers["watchProblem"],
): Effect.fn.Return<ReadPolicy> {
  const { patchPolicyText } = yield* Effect.promise(
    () => import("@tocsin/adapter-http/policy/patchPolicyText"),
  )
  const patched = patchPolicyText(reading.text, patch)
  if (Result.isFailure(patched)) return { issues: [], refusal: patched.failure }
  const text = patched.success
  // No rules, and no text of them.
  if (text === "") return { document: {}, text, issues: [] }
  return { ...(yield* readHere({ ...reading, text }, watchProblem)), text }
})

/** Reads a policy in this thread. Watches are judged if `watchProblem` is given. */
export const readHere: (
  reading: PolicyReading,
  watchProblem?: PolicyNotifiers["watchProblem"],
) => Effect.Effect<ReadPolicy> = Effect.fnUntraced(function* (
  reading: PolicyReading,
  watchProblem?: PolicyNotifiers["watchProblem"],
): Effect.fn.Return<ReadPolicy> {
  const { as, given, isFolderMissing, patch } = reading
  if (patch !== undefined) return yield* readPatched(reading, watchProblem)
  const opened = yield* Effect.result(open(reading, { ...given, watchProblem }))
  if (Result.isFailure(opened)) return { issues: opened.failure }
  const { accept, followed, sound, text } = opened.success
  const kept = as === "stored" ? followed() : undefined
  const named = kept?.document ?? sound()
  const misplaced = as === "file" ? [] : secretPlaceProblems(named, isFolderMissing)
  if (kept !== undefined && misplaced.length === 0) return { document: kept.document, issues: kept.outdated }
  return Result.match(accept(misplaced), {
    onSuccess: (document) => ({ document, text, issues: [] }),
    onFailure: (issues) => ({ issues }),
  })
})

/** The text that a patch made, and what it is; or why it could not be made. */
export const patchOrRefusal = ({
  refusal,
  text = "",
  ...read
}: ReadPolicy): Effect.Effect<ReadPatch, PatchRefusal> =>
  refusal === undefined ? Effect.succeed({ ...read, text }) : Effect.fail(refusal)
