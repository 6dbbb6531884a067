import { Effect, Semaphore } from "effect"
import type { PolicyIssue } from "@tocsin/contract/Policies"
import type { NotifierName } from "@tocsin/contract/Status"
import { compileGiven, type Policy, type PolicyNotifiers } from "../policy/compilePolicy.ts"
import type { Notifier } from "../ports/Notifiers.ts"
import { PolicySource } from "../ports/PolicySource.ts"
import { Storage, StorageError } from "../ports/Storage.ts"

/** Puts a policy in force with the notifiers of its receivers. */
type Put<E> = (policy: Policy, notifiers: ReadonlyMap<NotifierName, Notifier>) => Effect.Effect<void, E>

/** The policy while none is stored. */
const NO_RULES = "{}"

/** Problems of a policy, each with its line. */
export const issuesText = (issues: ReadonlyArray<PolicyIssue>): string =>
  issues
    .map(({ line, message, path }) => `line ${line}: ${path === "" ? "the policy" : path} ${message}`)
    .join("; ")

/** How a process follows the policy that the storage keeps. */
interface StoredPolicy<E> {
  /** Puts the newest version in force if it is not yet. */
  readonly follow: Effect.Effect<void, E | StorageError>
  /** Reads the secrets of the policy in force again. */
  readonly reload: Effect.Effect<void, E>
}

/**
 * Follows the policy that the storage keeps, if this process does. Puts its newest version in force by
 * `begin`, before anything is decided, and later ones by `replace`. Fails if this version of Tocsin cannot
 * read the first of them: without its policy, a server would notify every receiver.
 */
export const followStoredPolicy = Effect.fnUntraced(function* <E>(
  given: PolicyNotifiers,
  { begin, replace }: { readonly begin: Put<never>; readonly replace: Put<E> },
): Effect.fn.Return<StoredPolicy<E>, StorageError, Storage> {
  const source = yield* PolicySource
  if (source.source === "given") return { follow: Effect.void, reload: Effect.void }
  const storage = yield* Storage
  let seen = 0
  let current = NO_RULES

  /** Returns why the text cannot be read, if it cannot. */
  const use = Effect.fnUntraced(function* <F>(text: string, put: Put<F>) {
    const read = yield* Effect.result(source.read(text, false))
    if (read._tag === "Failure") return issuesText(read.failure)
    yield* put(compileGiven(read.success, given), yield* source.notifiers(read.success))
    current = text
    return undefined
  })

  const [first] = yield* storage.policyVersions(seen, 1)
  if (first !== undefined) {
    const problem = yield* use(first.text, begin)
    if (problem !== undefined)
      return yield* new StorageError({ reason: "newer", message: unreadable(problem) })
    seen = first.version
  }

  // Of two that follow at the same time, the one with the older version must not be the last.
  const inTurn = (yield* Semaphore.make(1)).withPermits(1)
  return {
    follow: inTurn(
      Effect.gen(function* () {
        const [newest] = yield* storage.policyVersions(seen, 1)
        if (newest === undefined) return
        const problem = yield* use(newest.text, replace)
        seen = newest.version
        if (problem !== undefined) yield* Effect.logError(unreadable(problem))
      }),
    ),
    reload: inTurn(Effect.suspend(() => Effect.asVoid(use(current, replace)))),
  }
})

const unreadable = (problem: string): string =>
  `this version of Tocsin cannot read the stored policy (${problem}): run the version that stored it, or apply another policy with it`
