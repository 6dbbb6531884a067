import { integrationNames, integrationNamesKnown } from "@tocsin/contract/integrations/integrationNames"
import { policyNamesKnown } from "@tocsin/contract/policy/policyNames"
import type * as Instant from "@tocsin/contract/formats/Instant"
import type { ReplicaRecord } from "../model/ReplicaRecord.ts"
import { liveReplicas } from "./replicaState.ts"

/** Lists of all checks of an agent: an older server would take results of withdrawn checks as those of any. */
export const LISTS_OF_CHECKS = "lists of checks"

/** Titles of agents and integrations: an older server would take them for labels of the agent. */
export const TITLES_OF_AGENTS = "titles of agents"

/** The kinds, options and keys that people may use here: a server of another version may know less. */
export const KNOWN_NAMES: ReadonlyArray<string> = [
  ...integrationNamesKnown,
  ...policyNamesKnown,
  LISTS_OF_CHECKS,
  TITLES_OF_AGENTS,
]

/** The keys and words of policies and watches in version 0.3.0. */
const FIRST_KEYS = {
  receivers:
    "kind kind=webhook url_file url_env secret_file secret_env concurrency quiet quiet.hours quiet.tz quiet.below quiet.below=unknown quiet.below=critical quiet.days acknowledge shadow kind=messenger type type=email type=ntfy type=discord type=teams type=google_chat type=mattermost type=rocket_chat type=zulip type=matrix type=gotify type=pushover from to cc token_file token_env user_file user_env user stream topic room tls tls=required tls=off telegram_token_file telegram_token_env telegram_chat digest digest.over kind=alert_router type=pagerduty type=opsgenie routing_key_file routing_key_env key_file key_env kind=debug",
  routes:
    "match after flapping flapping.openings flapping.within flapping.after remind to steps steps.after steps.to",
  dependencies:
    "parent child equal equal=agent_id equal=check_id equal=incident_key equal=hostname equal=severity grace",
  windows: "name cron tz for match comment",
  freshness: "match every after cron tz grace severity severity=warning severity=critical severity=unknown",
  runbooks: "match url note",
  watches:
    "name every confirm confirm.bad confirm.good http http.url http.method http.method=GET http.method=HEAD http.status http.text http.redirects http.verify http.days http.days.warning http.days.critical http.timeout tcp tcp.host tcp.port tcp.timeout tls tls.host tls.port tls.name tls.verify tls.days tls.days.warning tls.days.critical tls.timeout dns dns.name dns.type dns.type=A dns.type=AAAA dns.type=CNAME dns.type=MX dns.type=NS dns.type=PTR dns.type=SOA dns.type=SRV dns.type=TXT dns.timeout",
}

/** Those that version 0.3.0 knew, for servers that do not report what they know. */
const FIRST_KNOWN: ReadonlySet<string> = new Set([
  ...["watch", "ping", "push", "alertmanager", "webhook"].flatMap((kind) => integrationNames(kind, {})),
  ...integrationNames("ping", {
    ...Object.fromEntries(
      "check methods create max_checks group_by resend lapse repeats watchdog forget_after"
        .split(" ")
        .map((option) => [option, ""]),
    ),
    severity: { label: "", critical: "", warning: "", ignore: "" },
    map: { check: "", status: "", output: "" },
    values: { ok: "", warning: "", critical: "" },
  }),
  ...Object.entries(FIRST_KEYS).flatMap(([key, parts]) => [
    key,
    ...parts.split(" ").map((part) => `${key}.${part}`),
  ]),
])

/** A name that a running server does not know, which would fail on it or leave it out. */
export interface UnknownName {
  readonly name: string
  readonly version: string
}

/** The first of some names that a live replica does not know, and the version of that replica. */
export const unknownAmong = (
  names: ReadonlyArray<string>,
  replicas: ReadonlyArray<ReplicaRecord>,
  now: Instant.Instant,
): UnknownName | undefined => {
  for (const { known_names, version } of liveReplicas(replicas, now)) {
    const known = known_names === undefined ? FIRST_KNOWN : new Set(known_names)
    const name = names.find((each) => !known.has(each))
    if (name !== undefined) return { name, version }
  }
  return undefined
}
