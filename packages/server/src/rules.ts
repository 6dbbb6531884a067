import { KeyFingerprint } from "@tocsin/contract/formats/Identifiers"
import type { PolicyNotifiers } from "@tocsin/core/heart/policy/compilePolicy"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { defaultRules, type RuleOptions } from "@tocsin/core/kernel/ports/RuleSettings"
import { receiverTypes } from "@tocsin/contract/receivers/ReceiverTypes"
import type { RetentionOptions } from "@tocsin/core/kernel/engine/commits/Retention"
import { Record } from "effect"
import { features } from "./features.ts"
import type { Settings } from "./settings/Settings.ts"
import { SETTINGS_RECEIVERS, type SettingsReceiver, spanOf } from "./settings/settingTypes.ts"
import { watchProblem, watchTargets } from "./features/watches/watchTargets.ts"

/** The receivers of settings, and the settings that say where each sends; one of these is enough. */
export const NOTIFIER_ADDRESSES = {
  debug: [],
  webhook: ["SERVICE_WEBHOOK_URL"],
  messenger: ["SERVICE_MESSENGER_URL", "SERVICE_TELEGRAM_TOKEN"],
  alert_router: ["SERVICE_ALERT_ROUTER_URL"],
  email: ["SERVICE_EMAIL_TO"],
  ntfy: ["SERVICE_NTFY_URL"],
  discord: ["SERVICE_DISCORD_URL"],
  teams: ["SERVICE_TEAMS_URL"],
  pagerduty: ["SERVICE_PAGERDUTY_KEY"],
} as const satisfies Readonly<Record<SettingsReceiver, ReadonlyArray<keyof Settings>>>

/** The receivers that are configured; `debug` needs no setting. */
export const configuredNotifiers = (values: Partial<Settings>): ReadonlySet<SettingsReceiver> =>
  new Set(
    SETTINGS_RECEIVERS.filter((receiver) => {
      const addresses = NOTIFIER_ADDRESSES[receiver]
      return addresses.length === 0 || addresses.some((name) => values[name] !== undefined)
    }),
  )

/** The receivers to use: the named ones, or else all configured ones. */
export const enabledNotifiers = (values: Partial<Settings>): ReadonlyArray<SettingsReceiver> =>
  values.SERVICE_NOTIFIERS ?? Array.from(configuredNotifiers(values))

/** Modules may give notifiers that are named like types which these settings do not use. */
const notifierKinds = (values: Partial<Settings>): PolicyNotifiers["notifierKinds"] => {
  const enabled: ReadonlyArray<string> = enabledNotifiers(values)
  return Record.map(
    Record.filter(receiverTypes, (_, type) => enabled.includes(type)),
    ({ kind }) => kind,
  )
}

/** The receivers of a policy that defines none, and the targets of watches that no policy may have. */
export const policyNotifiers = (values: Partial<Settings>): PolicyNotifiers => ({
  notifiers: enabledNotifiers(values),
  notifierKinds: notifierKinds(values),
  keepsNotifiers: false,
  hasMailServer: values.SERVICE_SMTP_URL !== undefined && values.SERVICE_EMAIL_FROM !== undefined,
  extensions: (values.extensions?.notifiers ?? []).map(([, { name }]) => name),
  watchProblem: watchProblem(() => watchTargets(values)),
})

/** The same for a policy whose watches are not judged. */
export const receiversOutside = (values: Partial<Settings>): PolicyNotifiers => ({
  ...policyNotifiers(values),
  watchProblem: undefined,
})

const retentionOfFeatures = features.flatMap((part) => ("retention" in part ? [part.retention] : []))

export const retentionOf = (settings: Settings): RetentionOptions => ({
  history: spanOf(settings.SERVICE_RETENTION_HISTORY),
  incidents: spanOf(settings.SERVICE_RETENTION_INCIDENTS),
  outbox: spanOf(settings.SERVICE_RETENTION_OUTBOX),
  pending: spanOf(settings.SERVICE_RETENTION_PENDING),
  audit: spanOf(settings.SERVICE_RETENTION_AUDIT),
  ...Object.assign({}, ...retentionOfFeatures.map((of) => of(settings))),
})

const rulesOfFeatures = features.flatMap((part) => ("rules" in part ? [part.rules] : []))

export const rulesOf = (settings: Settings, policy: PolicyDocument): RuleOptions => ({
  ...defaultRules,
  ...policyNotifiers(settings),
  ...Object.assign({}, ...rulesOfFeatures.map((of) => of(settings))),
  policy,
  acceptFingerprints: new Set(settings.SERVICE_ACCEPT_FINGERPRINTS?.map((text) => KeyFingerprint.make(text))),
  heartbeatRate: settings.SERVICE_HEARTBEAT_RATE,
  registrationRate: settings.SERVICE_REGISTRATION_RATE,
  maxPendingAgents: settings.SERVICE_MAX_PENDING_AGENTS,
  publicUrl: settings.SERVICE_PUBLIC_URL,
  stored: settings.stored,
  messageDetails: settings.SERVICE_MESSAGE_DETAILS,
  staleAfter: settings.SERVICE_STALE_AFTER,
  acknowledgedFor: settings.SERVICE_ACK_FOR,
  longestAcknowledgement: settings.SERVICE_ACK_MAX,
  deadAfter: settings.SERVICE_DEAD_AFTER,
})
