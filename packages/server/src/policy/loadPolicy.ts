import type { PolicyIssue } from "@tocsin/contract/Policies"
import { mailTimeout, sendTimeout } from "@tocsin/adapter-notify/http/HttpPost"
import { acceptedReceivers } from "@tocsin/adapter-notify/policyReceivers"
import type { NotifierName } from "@tocsin/contract/Status"
import type { PolicyDocument } from "@tocsin/contract/PolicyDocument"
import type { Ids } from "@tocsin/core/ports/Ids"
import { type Notifier, Notifiers } from "@tocsin/core/ports/Notifiers"
import { Context, Effect, Layer, type Scope } from "effect"
import { notifiersLayer } from "../notifiers.ts"
import { policyNotifiers } from "../rules.ts"
import type { Settings } from "../settings/Settings.ts"
import { BadPolicy, openPolicyFile } from "./policyFile.ts"

/** A valid policy, and the notifiers of all its receivers. */
export interface LoadedPolicy {
  readonly document: PolicyDocument
  readonly receivers: ReadonlyMap<NotifierName, Notifier>
}

/**
 * Reads the policy file of the settings, and the secrets that it names. Without a file, the policy
 * is empty. Fails with every problem of the file.
 */
export const loadPolicy = Effect.fnUntraced(function* (
  settings: Settings,
): Effect.fn.Return<LoadedPolicy, BadPolicy, Scope.Scope | Ids> {
  const { SERVICE_POLICY_FILE: file } = settings
  if (file === undefined) {
    return { document: {}, receivers: yield* receiversOfSettings(settings) }
  }
  const refuse = (issues: ReadonlyArray<PolicyIssue>) => new BadPolicy({ file, issues })
  const { document, made } = yield* openPolicyFile(file, policyNotifiers(settings)).pipe(
    Effect.flatMap((text) =>
      acceptedReceivers({ ...text, receivers: text.receivers() }, postingOf(settings)),
    ),
    Effect.mapError(refuse),
  )
  const receivers = document.receivers === undefined ? yield* receiversOfSettings(settings) : made
  return { document, receivers }
})

/** How the receivers of a policy post. */
export const postingOf = (settings: Settings) => ({
  denyPrivateTargets: settings.SERVICE_DENY_PRIVATE_TARGETS,
  timeout: sendTimeout(settings.SERVICE_DELIVERY_LEASE),
  mailTimeout: mailTimeout(settings.SERVICE_DELIVERY_LEASE),
})

/** The receivers of a policy that defines none. */
export const receiversOfSettings = (settings: Settings) =>
  Effect.map(Layer.build(Layer.fresh(notifiersLayer(settings))), Context.get(Notifiers))
