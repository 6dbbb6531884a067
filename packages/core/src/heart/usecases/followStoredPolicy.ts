import { Effect, Semaphore } from "effect"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import type { PolicyIssue } from "@tocsin/contract/policy/Policies"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { CurrentInstruments } from "../../kernel/engine/metrics/Instruments.ts"
import { single } from "../../kernel/engine/metrics/Counters.ts"
import { policyMetrics } from "../policy/policyMetrics.ts"
import type { PolicyVersionRecord } from "../model/PolicyVersionRecord.ts"
import { compileGiven, type Policy, type PolicyNotifiers, withUnavailable } from "../policy/compilePolicy.ts"
import type { Notifier } from "../notifications/Notifiers.ts"
import { type FollowedPolicy, PolicySource } from "./PolicySource.ts"
import { Storage, StorageError } from "../../kernel/ports/Storage.ts"
import type { ReadSecrets } from "../policy/namedSecrets.ts"

/** Puts a policy with its notifiers in force. */
export type Put<E> = (
  policy: Policy,
  notifiers: ReadonlyMap<NotifierName, Notifier>,
) => Effect.Effect<void, E>

/** The text of the policy before the first version. */
export const NO_RULES = "{}"

/** A message of the API has at most 1,000. */
const MOST_CHARACTERS = 900

const issuesText = (issues: ReadonlyArray<PolicyIssue>): string => {
  let text = ""
  for (const [index, { line, message, path }] of issues.entries()) {
    const issue = `line ${line}: ${path === "" ? "the policy" : path} ${message}`.slice(0, MOST_CHARACTERS)
    if (text.length + issue.length > MOST_CHARACTERS) return `${text}; and ${issues.length - index} more`
    text += index === 0 ? issue : `; ${issue}`
  }
  return text
}

export const invalidPolicy = (issues: ReadonlyArray<PolicyIssue>): ValidationError =>
  new ValidationError({ message: `the policy is not valid: ${issuesText(issues)}` })

/** Returns a function that puts a text of the stored policy in force; its receivers have the stored secrets. */
const puttingInForce = (
  source: Extract<PolicySource, { readonly source: "stored" }>,
  given: () => PolicyNotifiers,
  readSecrets: ReadSecrets,
) => {
  let current: FollowedPolicy & { readonly text: string; readonly version: number } = {
    text: NO_RULES,
    document: {},
    outdated: [],
    version: 0,
  }
  let marks: ReadonlyMap<NotifierName, string> = new Map()
  const putWith = Effect.fnUntraced(function* <E>(
    read: Effect.Success<ReturnType<ReadSecrets>>,
    next: typeof current,
    put: Put<E>,
  ) {
    const { document, outdated, version } = next
    const { made, unavailable } = yield* source.notifiers(document, read.open())
    // Compiled each time: other servers may give other receivers by now.
    const compiled = { ...compileGiven(document, given()), outdated, version, secretMarks: read.marks }
    yield* put(withUnavailable(compiled, unavailable), made)
    current = next
    marks = read.marks
  })
  const use = Effect.fnUntraced(function* <E>(text: string, version: number, put: Put<E>) {
    const read = yield* Effect.result(source.follow(text))
    if (read._tag === "Failure") return issuesText(read.failure)
    yield* putWith(yield* readSecrets(read.success.document), { ...read.success, text, version }, put)
    return undefined
  })
  return {
    /** Puts a text in force. Returns why it cannot be read, if it cannot. */
    use,
    /** Puts the present text in force as it reads now: settings may have changed. */
    reread: <E>(put: Put<E>) => Effect.suspend(() => Effect.asVoid(use(current.text, current.version, put))),
    /** Puts the present policy in force again if its stored secrets have changed. */
    again: Effect.fnUntraced(function* <E>(put: Put<E>) {
      const read = yield* readSecrets(current.document)
      const found = Array.from(read.marks)
      const isSame = found.length === marks.size && found.every(([name, mark]) => marks.get(name) === mark)
      if (!isSame) yield* putWith(read, current, put)
    }),
  }
}

/**
 * Follows the policy that the storage keeps, if this process does. Puts its newest version in force by
 * `begin`, before anything is decided, and later ones by `replace`. Fails if this version of Tocsin cannot
 * follow the first of them: without its policy, a server would notify every receiver.
 */
export const followStoredPolicy = Effect.fnUntraced(function* <E>(
  given: () => PolicyNotifiers,
  {
    begin,
    readSecrets,
    replace,
  }: { readonly begin: Put<never>; readonly readSecrets: ReadSecrets; readonly replace: Put<E> },
) {
  const source = yield* PolicySource
  if (source.source === "given")
    return { follow: Effect.void, reload: Effect.void, followedVersion: () => undefined }
  const storage = yield* Storage
  const { again, reread, use } = puttingInForce(source, given, readSecrets)
  const instruments = yield* CurrentInstruments
  const { policyVersionsRefused } = instruments.of(policyMetrics)
  let seen = 0
  const versions = { followed: 0, newest: 0 }
  yield* instruments.addSource(
    Effect.sync(() => [
      single(policyMetrics.policyVersion, versions.followed),
      single(policyMetrics.policyIsNewest, Number(versions.followed === versions.newest)),
    ]),
  )

  const useVersion = Effect.fnUntraced(function* <F>({ text, version }: PolicyVersionRecord, put: Put<F>) {
    versions.newest = version
    const problem = yield* use(text, version, put)
    if (problem === undefined) versions.followed = version
    else policyVersionsRefused.of().value += 1
    return problem
  })

  const [first] = yield* storage.policyVersions(seen, 1)
  if (first !== undefined) {
    const problem = yield* useVersion(first, begin)
    if (problem !== undefined)
      return yield* new StorageError({ reason: "newer", message: unreadable(problem) })
    seen = first.version
  }

  // Of two that follow at the same time, the one with the older version must not be the last.
  const inTurn = (yield* Semaphore.make(1)).withPermits(1)
  return {
    /** Puts the newest version in force if it is not yet, and makes receivers again whose stored secrets changed. */
    follow: inTurn(
      Effect.gen(function* () {
        const [newest] = yield* storage.policyVersions(seen, 1)
        if (newest === undefined) return yield* again(replace)
        const problem = yield* useVersion(newest, replace)
        seen = newest.version
        if (problem !== undefined) yield* Effect.logError(unreadable(problem))
      }),
    ),
    /** Reads the text and the secrets of the policy in force again. */
    reload: inTurn(reread(replace)),
    /** The version that this process follows; 0 before the first. */
    followedVersion: () => versions.followed,
  }
})

const unreadable = (problem: string): string =>
  `this version of Tocsin cannot read the stored policy (${problem}): run the version that stored it, or apply another policy with it`
