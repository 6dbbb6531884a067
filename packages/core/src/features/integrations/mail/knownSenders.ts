import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { fieldOf } from "./Mail.ts"
import type { SeenMail } from "./SeenMail.ts"

/** The meaning of a mail by its form. */
interface Known {
  /** The name of the check; absent if the mail is ignored. */
  readonly check?: string
  readonly status: CheckStatus | "ignore"
  /** The host that it names. */
  readonly host?: string
}

/** A mail that has the form of a known program. */
export interface KnownMail extends Known {
  readonly by: string
}

const IGNORED: Known = { status: "ignore" }

/** Reads the parts of a subject, all of which matches. */
const bySubject =
  (form: RegExp, read: (parts: ReadonlyArray<string>, seen: SeenMail) => Known | undefined) =>
  (seen: SeenMail): Known | undefined => {
    const found = form.exec(seen.subject)
    return found === null
      ? undefined
      : read(
          found.slice(1).map((part = "") => part),
          seen,
        )
  }

/** The first of some parts of a line of the text. */
const inLine = ({ lines }: SeenMail, form: RegExp): string | undefined => {
  for (const line of lines()) {
    const found = form.exec(line)?.[1]
    if (found !== undefined) return found
  }
  return undefined
}

const domainOf = (address: string): string => address.slice(address.lastIndexOf("@") + 1)

/** The host that a program names, or that of its sender where it knows no other than localhost. */
const hostOf = (named: string, { from }: SeenMail): string => (named === "localhost" ? domainOf(from) : named)

const ofHost = (host: string, name: string, status: Known["status"]): Known => ({
  check: `${host}:${name}`,
  status,
  host,
})

/** Events of Monit whose words do not follow from one pattern (Monit 5.33, its table of events). */
const MONIT_EVENTS: Readonly<Record<string, readonly [kind: string, status: CheckStatus]>> = {
  "Does not exist": ["existence", "critical"],
  Exists: ["existence", "ok"],
  "Resource limit matched": ["resource-limit", "critical"],
  "Resource limit succeeded": ["resource-limit", "ok"],
  "Link down": ["link", "critical"],
  "Link up": ["link", "ok"],
  Timeout: ["timeout", "critical"],
  "Timeout recovery": ["timeout", "ok"],
}

const MONIT_ENDS = [
  [" failed", "critical"],
  [" succeeded", "ok"],
  [" not changed", "ok"],
  [" changed", "warning"],
] as const

const kindOf = (words: string): string => words.toLowerCase().replaceAll(" ", "-")

const monitEvent = (event: string): readonly [kind: string, status: CheckStatus] => {
  const known = Object.hasOwn(MONIT_EVENTS, event) ? MONIT_EVENTS[event] : undefined
  if (known !== undefined) return known
  const end = MONIT_ENDS.find(([words]) => event.endsWith(words))
  return end === undefined ? [kindOf(event), "warning"] : [kindOf(event.slice(0, -end[0].length)), end[1]]
}

const monit = (seen: SeenMail): Known | undefined => {
  if (!/^Monit\b/u.test(fieldOf(seen.mail, "x-mailer"))) return undefined
  const first = seen.lines().find((line) => line !== "") ?? ""
  const [, event = "", name = ""] = /^(.+?) Service (.+)$/u.exec(first) ?? []
  const host = inLine(seen, /^Host:\s+(\S+)$/u)
  if (event === "" || host === undefined) return undefined
  if (event.startsWith("Monit instance")) return IGNORED
  const [kind, status] = monitEvent(event)
  return ofHost(host, `${name}:${kind}`, status)
}

const zfs = (seen: SeenMail): Known | undefined => {
  const fault = /^ZFS device fault for pool (\S+) on (\S+)$/u.exec(seen.subject)
  const [, word = "", pool = "", host = ""] =
    /^ZFS .+ (error|event) for (\S+) on (\S+)$/u.exec(seen.subject) ?? []
  if (fault !== null) return ofHost(fault[2] ?? "", `zfs:${fault[1]}`, "critical")
  if (word === "") return undefined
  const isWell = ["state: ONLINE", "errors: No known data errors"].every((line) =>
    seen.lines().includes(line),
  )
  return ofHost(host, `zfs:${pool}`, word === "error" ? "critical" : isWell ? "ok" : "warning")
}

const STATES: Readonly<Record<string, CheckStatus>> = {
  OK: "ok",
  UP: "ok",
  WARNING: "warning",
  UNKNOWN: "unknown",
}

const STATES_OF_HOSTS: ReadonlySet<string> = new Set(["UP", "DOWN", "UNREACHABLE"])

/** A state of Icinga or Nagios; its acknowledgements and downtimes are no results. */
const stated = ([type = "", host = "", service = "", state = ""]: ReadonlyArray<string>): Known =>
  type === "PROBLEM" || type === "RECOVERY"
    ? ofHost(host, service || "host", STATES[state] ?? "critical")
    : IGNORED

const ENDS_OF_BACULA: Readonly<Record<string, CheckStatus>> = { OK: "ok", "OK -- with warnings": "warning" }
const ENDS_OF_BACKUPNINJA: Readonly<Record<string, CheckStatus>> = { SUCCESS: "ok", WARNING: "warning" }

type Reader = (seen: SeenMail) => Known | undefined

/** The programs that are known by the form of their mails, each with its forms (docs/rules.md#mail). */
const KNOWN_SENDERS: Readonly<Record<string, ReadonlyArray<Reader>>> = {
  cron: [
    bySubject(/^Cron <([^<>@]+@([^<>]+))> (.+?)( \(failed\))?$/su, ([user, host = "", command, failed]) => ({
      check: `cron ${user} ${command}`,
      status: failed === "" ? "warning" : "critical",
      host,
    })),
  ],
  anacron: [
    bySubject(/^Anacron job '(.+)' on (\S+)$/u, ([job, host = ""]) =>
      ofHost(host, `anacron:${job}`, "warning"),
    ),
  ],
  at: [
    bySubject(/^Output from your job +\d+$/u, (_, { from }) => ({ check: `at ${from}`, status: "warning" })),
  ],
  monit: [monit],
  apcupsd: [
    bySubject(/^(\S+) UPS (.+) Power (Failure !!!|has returned)$/u, ([host = "", name, words]) =>
      ofHost(host, `${name}:power`, words === "has returned" ? "ok" : "critical"),
    ),
    bySubject(/^(\S+) Communications with UPS (.+) (lost|restored)$/u, ([host = "", name, word]) =>
      ofHost(host, `${name}:communication`, word === "lost" ? "critical" : "ok"),
    ),
    bySubject(/^(\S+) UPS (.+) battery needs changing NOW\.$/u, ([host = "", name]) =>
      ofHost(host, `${name}:battery`, "critical"),
    ),
  ],
  smartd: [
    bySubject(/^SMART error \(.+\) detected on host: (\S+)$/u, ([host = ""], seen) => {
      const device = inLine(seen, /^Device:\s+([^\s,]+)/u)
      return device === undefined ? undefined : ofHost(host, device, "critical")
    }),
  ],
  mdadm: [
    bySubject(/^(\S+) event on (\S+):([^\s:]+)$/u, ([event = "", device = "", host = ""]) =>
      ofHost(host, device, ["Fail", "DegradedArray"].includes(event) ? "critical" : "warning"),
    ),
  ],
  zfs: [zfs],
  "unattended-upgrades": [
    bySubject(
      /^((?:\[[^\]]*\] *)*)unattended-upgrades result for (\S+): (SUCCESS|FAILURE)$/u,
      ([before = "", named = "", word], seen) => {
        const good = before.includes("[reboot required]") ? "warning" : "ok"
        return ofHost(hostOf(named, seen), "unattended-upgrades", word === "SUCCESS" ? good : "critical")
      },
    ),
  ],
  apticron: [
    bySubject(/^(\d+ (?:\S+ )?package update\(s\)|No updates) for (\S+)$/u, ([words, named = ""], seen) =>
      ofHost(hostOf(named, seen), "apticron", words === "No updates" ? "ok" : "warning"),
    ),
  ],
  logcheck: [
    bySubject(
      /^(?:\[logcheck\] )?(?:Reboot: |Logcheck: )?(\S+) \d{4}-\d\d-\d\d \d\d:\d\d(?: \S+)? (Security Alerts|Security Events|System Events|exiting due to errors)$/u,
      ([named = "", words = ""], seen) =>
        ofHost(hostOf(named, seen), "logcheck", words.endsWith("Events") ? "warning" : "critical"),
    ),
  ],
  vzdump: [
    bySubject(/^vzdump backup status \(([^()]+)\) ?: *(.*)$/u, ([host = "", words = ""]) =>
      ofHost(host, "vzdump", words.startsWith("backup successful") ? "ok" : "critical"),
    ),
  ],
  bacula: [
    bySubject(/^Bacula: (\S+) (.+?) of (\S+)(?: .*)?$/u, ([type, end = "", client], seen) => {
      const job = inLine(seen, /^Job:\s+(\S.*)\.\d{4}-\d{2}-\d{2}_\S*$/u)
      return {
        check: `bacula:${job ?? `${client}:${type}`}`,
        status: ENDS_OF_BACULA[end] ?? "critical",
      }
    }),
  ],
  backupninja: [
    // Version 1.2 has no word after the host where all went well.
    bySubject(/^backupninja: (\S+)(?: (\S+))?$/u, ([host = "", word]) =>
      ofHost(host, "backupninja", word ? (ENDS_OF_BACKUPNINJA[word.toUpperCase()] ?? "critical") : "ok"),
    ),
  ],
  icinga: [
    bySubject(/^\[([A-Z]+)\] (.+) is (\S+)!$/u, ([type = "", named = "", state = ""]) => {
      const on = named.lastIndexOf(" on ")
      const isHost = named.startsWith("Host ") && (on === -1 || STATES_OF_HOSTS.has(state))
      if (isHost) return stated([type, named.slice("Host ".length), "", state])
      return on < 1 ? undefined : stated([type, named.slice(on + " on ".length), named.slice(0, on), state])
    }),
  ],
  nagios: [
    bySubject(/^\*\* (\S+) Service Alert: ([^/]+)\/(.+) is (\S+) \*\*$/u, stated),
    bySubject(/^\*\* (\S+) Host Alert: (.+) is (\S+) \*\*$/u, ([type = "", host = "", state = ""]) =>
      stated([type, host, "", state]),
    ),
  ],
  fail2ban: [
    bySubject(/^\[Fail2Ban\] (.+): (started|stopped) on (\S+)$/u, ([jail, word, host = ""]) =>
      ofHost(host, `fail2ban:${jail}`, word === "started" ? "ok" : "warning"),
    ),
    bySubject(/^\[Fail2Ban\] /u, () => IGNORED),
  ],
  arpwatch: [
    ({ from, fromName, subject }) => {
      const ip = /\(([\d.]+|[\da-f:]*:[\da-f:.]*)\)/iu.exec(subject)?.[1]
      if (!fromName.startsWith("Arpwatch") || ip === undefined) return undefined
      return ofHost(domainOf(from), `arpwatch:${ip}`, "warning")
    },
  ],
  logwatch: [bySubject(/^Logwatch for /u, () => IGNORED)],
}

/** The meaning of a mail, if its form is that of a known program. */
export const knownMail = (seen: SeenMail): KnownMail | undefined => {
  for (const [by, readers] of Object.entries(KNOWN_SENDERS))
    for (const read of readers) {
      const known = read(seen)
      if (known !== undefined) return { by, ...known }
    }
  return undefined
}
