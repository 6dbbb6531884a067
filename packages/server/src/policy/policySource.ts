import { policyReceivers, secretPlaceProblems } from "@tocsin/adapter-notify/policyReceivers"
import type { NotifierName } from "@tocsin/contract/Status"
import { fieldPath } from "@tocsin/contract/describeIssue"
import type { PolicyDocument } from "@tocsin/contract/PolicyDocument"
import { compileGiven, type PolicyNotifiers } from "@tocsin/core/policy/compilePolicy"
import { CurrentOperator, systemOperator } from "@tocsin/core/ports/CurrentOperator"
import { Ids } from "@tocsin/core/ports/Ids"
import type { PolicySource } from "@tocsin/core/ports/PolicySource"
import type { StorageError } from "@tocsin/core/ports/Storage"
import type { StateConflict } from "@tocsin/core/usecases/OperationErrors"
import { Policies } from "@tocsin/core/usecases/Policies"
import { Effect, Layer, Result, Scope } from "effect"
import { postingOf, receiversOfSettings } from "../notifiers.ts"
import { policyNotifiers } from "../rules.ts"
import type { Secrets } from "../Secrets.ts"
import type { Settings } from "../settings/Settings.ts"
import { loadPolicy } from "./loadPolicy.ts"

const FILE_DECIDES =
  "SERVICE_POLICY_FILE is set, so that file decides on the policy: change it and send SIGHUP, or unset it"

const OUTDATED =
  "the stored policy breaks a rule of this version, and stays in force: correct it, and apply it again"

const UNAVAILABLE =
  "a receiver of the stored policy is unavailable here; its notifications wait for a server that can use it"

const openText = (text: string, given: PolicyNotifiers) =>
  Effect.flatMap(
    // The parser of YAML is loaded by the first policy that is read.
    Effect.promise(() => import("@tocsin/adapter-http/policy/readPolicyText")),
    ({ openPolicyText }) => Effect.fromResult(openPolicyText(text, given)),
  )

/**
 * Where the policy of a process with these settings comes from. One that is stored follows `secrets`.
 * Notifiers live as long as the scope, because attempts may be under way.
 */
export const policySource = Effect.fnUntraced(function* (
  initial: Settings,
  secrets?: Secrets,
): Effect.fn.Return<PolicySource, never, Ids | Scope.Scope> {
  if (initial.SERVICE_POLICY_FILE !== undefined) return { source: "given", advice: FILE_DECIDES }
  let settings = initial
  secrets?.follow((read) => Effect.sync(() => void (settings = read)))
  const context = yield* Effect.context<Ids | Scope.Scope>()
  const make = Effect.fnUntraced(function* ({ receivers }: PolicyDocument) {
    const unavailable = new Map<NotifierName, string>()
    if (receivers === undefined) return { made: yield* receiversOfSettings(settings), unavailable }
    const only = { path: settings.SERVICE_SECRETS_DIR }
    const { made, problems } = yield* policyReceivers(receivers, postingOf(settings), only)
    for (const { message, path } of problems) {
      const problem = `${fieldPath(path)} ${message}`
      // Problems of receivers have their names in their paths.
      const name = String(path[1])
      const before = unavailable.get(name)
      unavailable.set(name, before === undefined ? problem : `${before}; ${problem}`)
    }
    return { made, unavailable }
  })
  const warn = ({ unavailable }: { readonly unavailable: ReadonlyMap<string, string> }) =>
    // A command sends nothing.
    Effect.forEach(secrets === undefined ? [] : unavailable.values(), (problem) =>
      Effect.annotateLogs(Effect.logWarning(UNAVAILABLE), { problem }),
    )
  return {
    source: "stored",
    read: Effect.fnUntraced(function* (text) {
      const { accept, receivers } = yield* openText(text, policyNotifiers(settings))
      const isFolderMissing = settings.SERVICE_SECRETS_DIR === undefined
      return yield* Effect.fromResult(accept(secretPlaceProblems(receivers(), isFolderMissing)))
    }),
    follow: Effect.fnUntraced(function* (text) {
      // A stored policy remains in force when the settings change; its watches then show their refusal.
      const { watchProblem: _, ...given } = policyNotifiers(settings)
      const { accept, followed, receivers } = yield* openText(text, given)
      const kept = followed()
      const misplaced = secretPlaceProblems(kept?.document.receivers ?? receivers(), false)
      if (kept === undefined || misplaced.length > 0)
        return { document: yield* Effect.fromResult(accept(misplaced)), outdated: [] }
      // A command sends nothing.
      for (const { line, message: problem, path } of secrets === undefined ? [] : kept.outdated)
        yield* Effect.annotateLogs(Effect.logWarning(OUTDATED), {
          problem: `line ${line}: ${path} ${problem}`,
        })
      return kept
    }),
    notifiers: (document) => make(document).pipe(Effect.tap(warn), Effect.provideContext(context)),
    unavailable: (document) =>
      Effect.provideContext(
        Effect.map(Effect.scoped(make(document)), (made) => made.unavailable),
        context,
      ),
  }
})

const NOT_PUT_IN_FORCE = "cannot put the policy in force; keeping the current one until the next SIGHUP"

const orComplain = (put: Effect.Effect<void, StateConflict | StorageError>) =>
  Effect.catch(Effect.provideService(put, CurrentOperator, systemOperator), ({ message: problem }) =>
    Effect.annotateLogs(Effect.logError(NOT_PUT_IN_FORCE), { problem }),
  )

/**
 * Reads the policy file and the secrets of its receivers again when the settings are. A refused
 * file changes nothing. Former notifiers live as long as the server, because they may be in use.
 */
export const policyReloading = (secrets: Secrets) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const policies = yield* Policies
      const ids = yield* Ids
      const scope = yield* Effect.scope
      secrets.follow(
        Effect.fnUntraced(function* (settings) {
          if (settings.SERVICE_POLICY_FILE === undefined) return yield* orComplain(policies.reload)
          const load = Effect.provideService(loadPolicy(settings), Ids, ids)
          const loaded = yield* Effect.result(Effect.provideService(load, Scope.Scope, scope))
          if (Result.isFailure(loaded)) {
            return yield* Effect.annotateLogs(
              Effect.logError(
                "cannot reload the policy because its file is not valid; keeping the current one",
              ),
              { problem: loaded.failure.lines.join("; ") },
            )
          }
          const { document, receivers } = loaded.success
          const policy = compileGiven(document, policyNotifiers(settings))
          yield* orComplain(
            Effect.andThen(policies.replace(policy, receivers), Effect.logInfo("the policy was read again")),
          )
        }),
      )
    }),
  )
