import { policyReceivers, secretPlaceProblems } from "@tocsin/adapter-notify/policyReceivers"
import type { NotifierName } from "@tocsin/contract/Status"
import { fieldPath } from "@tocsin/contract/describeIssue"
import type { Ids } from "@tocsin/core/ports/Ids"
import type { PolicySource } from "@tocsin/core/ports/PolicySource"
import { Effect, type Scope } from "effect"
import { policyNotifiers } from "../rules.ts"
import type { Secrets } from "../Secrets.ts"
import type { Settings } from "../settings/Settings.ts"
import { postingOf, receiversOfSettings } from "./loadPolicy.ts"

const FILE_DECIDES =
  "SERVICE_POLICY_FILE is set, so that file decides on the policy: change it and send SIGHUP, or unset it"

/** Reports a receiver whose secrets this process cannot read. */
type OnUnavailable = (problem: string) => Effect.Effect<void>

/**
 * Where the policy of a process with these settings comes from. One that is stored follows `secrets`.
 * Notifiers live as long as the scope, because attempts may be under way.
 */
export const policySource = Effect.fnUntraced(function* (
  initial: Settings,
  { onUnavailable, secrets }: { readonly onUnavailable: OnUnavailable; readonly secrets?: Secrets },
): Effect.fn.Return<PolicySource, never, Ids | Scope.Scope> {
  if (initial.SERVICE_POLICY_FILE !== undefined) return { source: "given", advice: FILE_DECIDES }
  let settings = initial
  secrets?.follow((read) => Effect.sync(() => void (settings = read)))
  const context = yield* Effect.context<Ids | Scope.Scope>()
  return {
    source: "stored",
    read: Effect.fnUntraced(function* (text, isNew) {
      // The parser of YAML is loaded by the first policy that is read.
      const { openPolicyText } = yield* Effect.promise(
        () => import("@tocsin/adapter-http/policy/readPolicyText"),
      )
      const given = policyNotifiers(settings)
      // A stored policy remains in force when the settings change; its watches then show their refusal.
      const watchProblem = isNew ? given.watchProblem : undefined
      const { accept, receivers } = yield* Effect.fromResult(openPolicyText(text, { ...given, watchProblem }))
      const isFolderMissing = isNew && settings.SERVICE_SECRETS_DIR === undefined
      return yield* Effect.fromResult(accept(secretPlaceProblems(receivers(), isFolderMissing)))
    }),
    notifiers: ({ receivers }) =>
      Effect.gen(function* () {
        const unavailable = new Map<NotifierName, string>()
        if (receivers === undefined) return { made: yield* receiversOfSettings(settings), unavailable }
        const only = { path: settings.SERVICE_SECRETS_DIR }
        const { made, problems } = yield* policyReceivers(receivers, postingOf(settings), only)
        for (const { message, path } of problems) {
          const problem = `${fieldPath(path)} ${message}`
          yield* onUnavailable(problem)
          // Problems of receivers have their names in their paths.
          const name = String(path[1])
          const before = unavailable.get(name)
          unavailable.set(name, before === undefined ? problem : `${before}; ${problem}`)
        }
        return { made, unavailable }
      }).pipe(Effect.provideContext(context)),
  }
})
