import { createHash } from "node:crypto"
import process from "node:process"
import { assert, describe, it } from "@effect/vitest"
import type { IntegrationOptions } from "@tocsin/contract/integrations/Integrations"
import { decideMail } from "@tocsin/core/features/integrations/mail/decideMail"
import { seenMail } from "@tocsin/core/features/integrations/mail/SeenMail"

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

interface Given {
  readonly subject?: string
  readonly from?: string
  readonly text?: string
  readonly fields?: ReadonlyArray<readonly [name: string, value: string]>
  readonly check?: string
  readonly options?: IntegrationOptions
  readonly isReport?: boolean
}

const seenOf = ({ fields = [], from = "NAS <nas@x>", isReport = false, subject, text = "" }: Given) =>
  seenMail({
    sender: "",
    fields: [["from", from], ...(subject === undefined ? [] : [["subject", subject] as const]), ...fields],
    text,
    sent_at: undefined,
    isReport,
  })

const decided = (given: Given) =>
  decideMail(seenOf(given), { check: given.check ?? "", options: given.options ?? {}, sha256 })

/** `STATUS TITLE-OR-ID (BY)`, or `ignored (BY)`. */
const said = (given: Given): string => {
  const decision = decided(given)
  if (decision.outcome === "ignored") return `ignored (${decision.by})`
  const { check_id, labels, status } = decision.report
  const name = decision.isBySubject ? "" : ` ${labels?.["title"] ?? check_id}`
  return `${status}${name} (${decision.by})`
}

const lines = (...texts: ReadonlyArray<string>): string => texts.join("\n")

describe("the subject of a mail", () => {
  it.each([
    ["Re: FWD: aw:[EXTERNAL] ***spam*** [EXT]Disk", "Disk"],
    ["Report: all", "Report: all"],
    ["a\tb\u0000c", "a b c"],
    ["", "mail from nas@x"],
    [undefined, "mail from nas@x"],
  ])("%s is seen as %s", (given, expected) => {
    assert.strictEqual(seenOf({ ...(given !== undefined && { subject: given }) }).subject, expected)
  })
})

describe("the sender of a mail", () => {
  it.each([
    ["NAS <nas@x>", "nas@x"],
    ["nas@x (NAS)", "nas@x"],
    ["A <a@x>, B <b@x>", "a@x"],
    ['"B, b@x" <a@x>', "a@x"],
    ['"Ups, <b@x>" <a@x>', "a@x"],
    ["root (Cron Daemon)", "root"],
    ['"Cron Daemon" root', "root"],
    ["undisclosed:;", "unknown"],
    ['"Cron Daemon"', "unknown"],
    ["<>", "unknown"],
    ["", "unknown"],
  ])("%s is %s", (from, expected) => {
    assert.strictEqual(seenOf({ from }).from, expected)
  })
})

describe("the words of a subject", () => {
  it.each([
    ["Backup failed", "critical"],
    ["Backup finished with 0 errors, completed", "ok"],
    ["no problems found: OK", "ok"],
    ["without failure, 2 warnings", "warning"],
    ["Link down", "critical"],
    ["not OK", "critical"],
    ["Unsuccessful login", "critical"],
    ["Power restored", "ok"],
    ["Volume degraded, warning", "critical"],
    ["download online", "ok"],
    ["Weekly report", "critical"],
    ["notice", "critical"],
  ])("%s is %s", (subject, status) => {
    assert.strictEqual(said({ subject }), `${status} (subject)`)
  })

  it("give way to the options", () => {
    const options = { failed: "*fehlgeschlagen*", recovered: ["*erfolgreich*"], status: "unknown" } as const
    const statusOf = (subject: string) => said({ subject, options })
    assert.strictEqual(statusOf("Sicherung FEHLGESCHLAGEN"), "critical (subject)")
    assert.strictEqual(statusOf("Sicherung erfolgreich, failed"), "ok (subject)")
    assert.strictEqual(statusOf("failed"), "unknown (subject)")
  })
})

describe("a mail becomes the result", () => {
  const monit = (event: string): Given => ({
    subject: "anything",
    fields: [["x-mailer", "Monit 5.33.0"]],
    text: lines(`${event} Service db 1`, "", "\tHost:        vm"),
  })
  const bacula = lines("  JobId: 7", "  Job:   Nightly.2026-11-28_14.29.38_03")
  const zfs = lines("  pool: tank", " state: ONLINE", "errors: No known data errors")
  const rows: ReadonlyArray<readonly [Given, string]> = [
    [{ subject: "Cron <root@vm> run --all (failed)" }, "critical cron root@vm run --all (cron)"],
    [{ subject: "disk failed", check: "nas" }, "critical nas (address)"],
    [{ subject: "Cron <root@vm> x", check: "nas" }, "warning cron root@vm x (cron)"],
    [monit("Connection failed"), "critical vm:db 1:connection (monit)"],
    [monit("Content not changed"), "ok vm:db 1:content (monit)"],
    [monit("PID changed"), "warning vm:db 1:pid (monit)"],
    [monit("Resource limit succeeded"), "ok vm:db 1:resource-limit (monit)"],
    [monit("Link down"), "critical vm:db 1:link (monit)"],
    [monit("Timeout recovery"), "ok vm:db 1:timeout (monit)"],
    [monit("Heartbeat lost"), "warning vm:db 1:heartbeat-lost (monit)"],
    [monit("Monit instance changed"), "ignored (monit)"],
    [{ subject: "vm UPS ups 1 battery needs changing NOW." }, "critical vm:ups 1:battery (apcupsd)"],
    [{ subject: "vm Communications with UPS u restored" }, "ok vm:u:communication (apcupsd)"],
    [{ subject: "SMART error (Health) detected on host: vm", text: "no device" }, "critical (subject)"],
    [{ subject: "DegradedArray event on /dev/md0:vm" }, "critical vm:/dev/md0 (mdadm)"],
    [{ subject: "RebuildFinished event on /dev/md0:vm" }, "warning vm:/dev/md0 (mdadm)"],
    [{ subject: "ZFS device fault for pool tank on vm" }, "critical vm:zfs:tank (zfs)"],
    [{ subject: "ZFS checksum error for tank on vm" }, "critical vm:zfs:tank (zfs)"],
    [{ subject: "ZFS scrub_finish event for tank on vm", text: zfs }, "ok vm:zfs:tank (zfs)"],
    [{ subject: "ZFS scrub_finish event for tank on vm" }, "warning vm:zfs:tank (zfs)"],
    [
      { subject: "[reboot required] unattended-upgrades result for vm: SUCCESS" },
      "warning vm:unattended-upgrades (unattended-upgrades)",
    ],
    [
      { subject: "unattended-upgrades result for vm: SUCCESS" },
      "ok vm:unattended-upgrades (unattended-upgrades)",
    ],
    [{ subject: "3 Debian package update(s) for web1" }, "warning web1:apticron (apticron)"],
    [{ subject: "1 package update(s) for web1" }, "warning web1:apticron (apticron)"],
    [{ subject: "No updates for web1" }, "ok web1:apticron (apticron)"],
    [{ subject: "Reboot: web1 2026-11-30 08:05 Security Events" }, "warning web1:logcheck (logcheck)"],
    [
      { subject: "[logcheck] web1 2026-11-30 08:05 +0000 Security Alerts" },
      "critical web1:logcheck (logcheck)",
    ],
    [
      { subject: "Logcheck: web1 2026-11-30 08:05 +0000 exiting due to errors" },
      "critical web1:logcheck (logcheck)",
    ],
    [{ subject: "vzdump backup status (pve) : backup successful" }, "ok pve:vzdump (vzdump)"],
    [{ subject: "vzdump backup status (pve): backup failed: timeout" }, "critical pve:vzdump (vzdump)"],
    [{ subject: "Bacula: Backup OK of db-fd Full", text: bacula }, "ok bacula:Nightly (bacula)"],
    [{ subject: "Bacula: Backup OK -- with warnings of db-fd Full" }, "warning bacula:db-fd:Backup (bacula)"],
    [{ subject: "Bacula: Backup Fatal Error of db-fd Full" }, "critical bacula:db-fd:Backup (bacula)"],
    [{ subject: "backupninja: vm success" }, "ok vm:backupninja (backupninja)"],
    [{ subject: "[DOWNTIMESTART] disk on web1 is OK!" }, "ignored (icinga)"],
    [{ subject: "[PROBLEM] Host alive on Web 1 is CRITICAL!" }, "critical Web 1:Host alive (icinga)"],
    [{ subject: "[RECOVERY] Host Web on floor 1 is UP!" }, "ok Web on floor 1:host (icinga)"],
    [{ subject: "** PROBLEM Host Alert: Web 1 is DOWN **" }, "critical Web 1:host (nagios)"],
    [{ subject: "** PROBLEM Service Alert: web1/disk / is WARNING **" }, "warning web1:disk / (nagios)"],
    [{ subject: "** RECOVERY Host Alert: web1 is UP **" }, "ok web1:host (nagios)"],
    [{ subject: "** ACKNOWLEDGEMENT Host Alert: web1 is DOWN **" }, "ignored (nagios)"],
    [{ subject: "Logwatch for vm (Linux)" }, "ignored (logwatch)"],
    [{ subject: "x failed", fields: [["list-id", "Tocsin <tocsin.example.org>"]] }, "ignored (subject)"],
    [{ subject: "x failed", fields: [["list-id", "<news.example.org>"]] }, "critical (subject)"],
    [{ subject: "x failed", fields: [["auto-submitted", "auto-replied"]] }, "ignored (subject)"],
    [{ subject: "x failed", fields: [["auto-submitted", "auto-generated"]] }, "critical (subject)"],
    [{ subject: "x failed", isReport: true }, "ignored (subject)"],
  ]
  it.each(rows)("%j: %s", (given, expected) => {
    assert.strictEqual(said(given), expected)
  })
})

describe("rules", () => {
  const by = (rules: IntegrationOptions["rules"], given: Given) =>
    said({ ...given, options: { ...(rules !== undefined && { rules }) } })

  it("count in their order, and take the shortest runs", () => {
    const rules = [
      { match: { subject: "a*b*c" }, check: "$2-$1" },
      { match: { subject: ["x", "A?c*"] }, status: "ignore" },
    ] as const
    assert.strictEqual(by(rules, { subject: "A1b2b3C" }), "critical 2b3-1 (rule 1)")
    assert.strictEqual(by(rules, { subject: "axcd" }), "ignored (rule 2)")
    assert.strictEqual(by(rules, { subject: "axxcd" }), "critical (subject)")
  })

  it.each([
    ["x ? y", "x 😀 y", ""],
    ["*? y", "x😀 y", "x"],
    ["??*", "😀😀z", "z"],
    ["*?", "a😀", "a"],
    ["*?b?*", "😀xb😀c", "😀"],
    ["*😀*", "a😀b", "a"],
    ["???", "x😀", undefined],
    ["*?x", "x", undefined],
    ["a?", "a", undefined],
    ["", "a", undefined],
  ])("%s takes of %s: %s", (subject, given, taken) => {
    const seen = by([{ match: { subject }, check: "c$1" }], { subject: given, check: "other" })
    assert.strictEqual(seen, taken === undefined ? "critical other (address)" : `critical c${taken} (rule 1)`)
  })

  it("match the first line, the address and all given fields", () => {
    const rules = [
      {
        match: { body: "state: *", from: "*@x", header: { "X-Host": "*" } },
        check: "$3 $1 $2",
        status: "ok",
      },
    ] as const
    const text = lines("nothing", "  State: bad ", "state: good")
    assert.strictEqual(
      by(rules, { subject: "s", text, fields: [["x-host", "h1"]] }),
      "ok h1 bad nas (rule 1)",
    )
    assert.strictEqual(by(rules, { subject: "s", text }), "critical (subject)")
  })

  it("leave open what they do not say", () => {
    const status = [{ match: {}, status: "warning" }] as const
    assert.strictEqual(
      by(status, { subject: "Cron <root@vm> x (failed)" }),
      "warning cron root@vm x (rule 1)",
    )
    assert.strictEqual(
      by([{ match: {}, check: "$1" }], { subject: "x failed", check: "nas" }),
      "critical nas (rule 1)",
    )
    assert.strictEqual(by(status, { subject: "x", isReport: true }), "warning (rule 1)")
  })

  it("take no longer than their lengths multiplied", () => {
    const glob = `${"*a".repeat(100)}b`
    const before = process.threadCpuUsage()
    assert.strictEqual(
      by([{ match: { subject: glob }, check: "x" }], { subject: "a".repeat(8_000) }),
      "critical (subject)",
    )
    assert.isBelow(process.threadCpuUsage(before).user, 1_000_000)
  })
})
