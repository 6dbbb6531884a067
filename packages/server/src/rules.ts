import { hostname } from "node:os"
import { KeyFingerprint } from "@tocsin/contract/formats/Identifiers"
import type { PolicyNotifiers } from "@tocsin/core/heart/policy/compilePolicy"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { defaultRules, type RuleOptions } from "@tocsin/core/kernel/ports/RuleSettings"
import { receiverTypes } from "@tocsin/contract/receivers/ReceiverTypes"
import type { RetentionOptions } from "@tocsin/core/kernel/engine/commits/retentionChores"
import { Duration, Record } from "effect"
import type { Settings } from "./settings/Settings.ts"
import { publicUrlIn } from "./features/settings/publicUrlIn.ts"
import { SETTINGS_RECEIVERS, type SettingsReceiver } from "./settings/settingTypes.ts"
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

export const retentionOf = (settings: Settings): RetentionOptions => {
  const kept = (time: Duration.Duration) => (Duration.isFinite(time) ? time : undefined)
  return {
    history: kept(settings.SERVICE_RETENTION_HISTORY),
    incidents: kept(settings.SERVICE_RETENTION_INCIDENTS),
    outbox: kept(settings.SERVICE_RETENTION_OUTBOX),
    pending: kept(settings.SERVICE_RETENTION_PENDING),
    audit: kept(settings.SERVICE_RETENTION_AUDIT),
    numbers: kept(settings.SERVICE_RETENTION_NUMBERS),
  }
}

/** The domain of the addresses of integrations that take mail. */
export const mailDomainOf = ({ SERVICE_MAIL_DOMAIN: domain, ...settings }: Settings): string => {
  const url = publicUrlIn(settings)
  return (domain ?? (url === undefined ? hostname() : new URL(url).hostname)).toLowerCase()
}

export const rulesOf = (settings: Settings, policy: PolicyDocument): RuleOptions => ({
  ...defaultRules,
  ...policyNotifiers(settings),
  policy,
  acceptFingerprints: new Set(settings.SERVICE_ACCEPT_FINGERPRINTS?.map((text) => KeyFingerprint.make(text))),
  heartbeatRate: settings.SERVICE_HEARTBEAT_RATE,
  registrationRate: settings.SERVICE_REGISTRATION_RATE,
  maxPendingAgents: settings.SERVICE_MAX_PENDING_AGENTS,
  integrationRate: settings.SERVICE_INTEGRATION_RATE,
  integrationCheckRate: settings.SERVICE_INTEGRATION_CHECK_RATE,
  watchAgent: settings.SERVICE_WATCH_AGENT,
  publicUrl: settings.SERVICE_PUBLIC_URL,
  watchLoopback: settings.SERVICE_WATCH_LOOPBACK,
  stored: settings.stored,
  mailDomain: () => mailDomainOf(settings),
  messageDetails: settings.SERVICE_MESSAGE_DETAILS,
  staleAfter: settings.SERVICE_STALE_AFTER,
  acknowledgedFor: settings.SERVICE_ACK_FOR,
  longestAcknowledgement: settings.SERVICE_ACK_MAX,
  longestSilence: settings.SERVICE_SILENCE_MAX,
  deadAfter: settings.SERVICE_DEAD_AFTER,
})
