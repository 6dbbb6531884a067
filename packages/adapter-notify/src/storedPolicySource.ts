import type { PolicyIssue } from "@tocsin/contract/policy/Policies"
import { completeReceivers } from "@tocsin/contract/receivers/mailServer"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import {
  LACKED,
  lackedReceivers,
  type PolicyNotifiers,
  receiversGiven,
} from "@tocsin/core/heart/policy/compilePolicy"
import type { Ids } from "@tocsin/core/kernel/ports/Ids"
import { type Notifier, refusedHere } from "@tocsin/core/heart/notifications/Notifiers"
import type { FollowedPolicy, PolicySource, ReceiverChange } from "@tocsin/core/heart/usecases/PolicySource"
import type { OpenedSecrets } from "@tocsin/core/heart/policy/namedSecrets"
import { Effect, Result, type Scope } from "effect"
import type { PostingOptions } from "./http/HttpPost.ts"
import { policyReceivers, unavailableBy } from "./policyReceivers.ts"

/** How a process reads stored policies, and where their secrets are. Settings may change at any time. */
export interface StoredPolicyOptions {
  /** Reads a new text; with a change, the text with one receiver changed. */
  readonly readApplied: (
    text: string,
    elsewhere: ReadonlyArray<NotifierName>,
    change?: ReceiverChange,
  ) => Effect.Effect<{ readonly document: PolicyDocument; readonly text: string }, ReadonlyArray<PolicyIssue>>
  /** Reads a text with changes made in it as a new one. */
  readonly readPatched: Extract<PolicySource, { readonly source: "stored" }>["patch"]
  readonly readStored: (text: string) => Effect.Effect<FollowedPolicy, ReadonlyArray<PolicyIssue>>
  readonly places: () => {
    readonly posting: PostingOptions
    readonly folder: string | undefined
    readonly mayReachLoopback?: boolean
  }
  /** The receivers that no policy defines. */
  readonly outside: () => PolicyNotifiers
  /** The notifiers of a policy's receivers, absent if it defines none, and those outside it. */
  readonly withOutsiders: (
    made: ReadonlyMap<NotifierName, Notifier> | undefined,
  ) => Effect.Effect<ReadonlyMap<NotifierName, Notifier>, { readonly message: string }, Ids | Scope.Scope>
  /** Whether it sends notifications, and logs what it cannot use. */
  readonly sends: boolean
}

const OUTDATED =
  "the stored policy breaks a rule of this version, and stays in force: correct it, and apply it again"

const UNAVAILABLE =
  "a receiver of the stored policy is unavailable here; its notifications wait for a server that can use it"

/** The stored policy. Notifiers live as long as the scope, because attempts may be under way. */
export const storedPolicySource = Effect.fnUntraced(function* ({
  outside,
  places,
  readApplied,
  readPatched,
  readStored,
  sends,
  withOutsiders,
}: StoredPolicyOptions): Effect.fn.Return<PolicySource, never, Ids | Scope.Scope> {
  const context = yield* Effect.context<Ids | Scope.Scope>()
  const make = Effect.fnUntraced(function* (document: PolicyDocument, stored: OpenedSecrets) {
    const { folder, mayReachLoopback = false, posting } = places()
    const { made, problems } = yield* policyReceivers(completeReceivers(document), posting, {
      folder: { path: folder },
      stored,
      mayReachLoopback,
    })
    return { made, unavailable: unavailableBy(problems, document) }
  })
  const warn = (warning: Effect.Effect<void>, problems: ReadonlyArray<string>) =>
    Effect.forEach(sends ? problems : [], (problem) => Effect.annotateLogs(warning, { problem }))
  const warnOfOutdated = ({ outdated }: FollowedPolicy) =>
    warn(
      Effect.logWarning(OUTDATED),
      outdated.map(({ line, message, path }) => `line ${line}: ${path} ${message}`),
    )
  return {
    source: "stored",
    read: (text, elsewhere) => Effect.map(readApplied(text, elsewhere), ({ document }) => document),
    edit: (text, change, elsewhere) => readApplied(text, elsewhere, change),
    patch: readPatched,
    follow: (text) => Effect.tap(readStored(text), warnOfOutdated),
    notifiers: (document, stored) =>
      Effect.gen(function* () {
        const { made, unavailable } = yield* make(document, stored)
        const lacked = lackedReceivers(document, receiversGiven(document, outside()))
        yield* warn(Effect.logWarning(UNAVAILABLE), [
          ...unavailable.values(),
          ...lacked.map((name) => `${name}: ${LACKED}`),
        ])
        const all = yield* Effect.result(withOutsiders(document.receivers && made))
        if (Result.isSuccess(all)) return { made: all.success, unavailable }
        const { message } = all.failure
        yield* warn(Effect.logWarning(UNAVAILABLE), [message])
        const others = receiversGiven(document, outside()).map((name) => [name, message] as const)
        return { made, unavailable: new Map([...unavailable, ...others]) }
      }).pipe(Effect.provideContext(context)),
    test: (document, stored, bind) =>
      Effect.gen(function* () {
        const { made, unavailable } = yield* make(document, stored)
        const [[notifier], [reason = ""]] = [made.values(), unavailable.values()]
        return notifier === undefined ? refusedHere(reason) : yield* bind(notifier).test
      }).pipe(Effect.scoped, Effect.provideContext(context)),
    unavailable: (document, stored) =>
      Effect.provideContext(
        Effect.map(Effect.scoped(make(document, stored)), (made) => made.unavailable),
        context,
      ),
  }
})
