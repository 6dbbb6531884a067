import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Redacted } from "effect"
import { SEEN_MAILS } from "./seenMails.ts"
import { tocsin } from "../cli/tocsin.ts"
import { call, historyOf, operate } from "../processes/api.ts"
import { scratchFolder, scratchPostgres } from "../processes/scratch.ts"
import type { Environment } from "../processes/secrecy.ts"
import { keptOf, mailbox, openOf, startMailServer } from "./mailbox.ts"
import { onTheWire, say, sendMail } from "./MailClient.ts"

const FOLDER = new URL("mails/", import.meta.url)
const DATE = /^Date: (.*)$/m

/** The newest of the mails is five minutes old, and the others are as much older as they were. */
const SENT = new Map(
  SEEN_MAILS.map(([file]) => [file, readFileSync(new URL(`${file}.eml`, FOLDER), "utf8")] as const),
)
const dateIn = (mail: string): number => Date.parse(DATE.exec(mail)?.[1] ?? "")
const NEWEST = Math.max(...Array.from(SENT.values(), dateIn).filter((date) => !Number.isNaN(date)))
const START = Date.now()

const seen = (file: string): string => {
  const mail = SENT.get(file) ?? ""
  const moved = dateIn(mail) + START - NEWEST - Duration.toMillis("5 minutes")
  return mail.replace(DATE, `Date: ${new Date(moved).toUTCString().replace("GMT", "+0000")}`)
}

const CRON = "cron_root_vm_ls__nicht-da.5a58d509c504"
const ARP = "vm:arpwatch:10.9.8.7"

/** The outcome of mails in this order: open incidents, results that changed, and how many mails were late. */
const STORIES: ReadonlyArray<
  readonly [mails: ReadonlyArray<string>, open: ReadonlyArray<string>, changes: number, late?: number]
> = [
  [["monit-alert-connection-failed-port-2", "monit-alert-connection-succeeded-port"], [], 2],
  [["monit-alert-does-not-exist-nope-2", "monit-alert-exists-nope"], [], 2],
  [["vm-ups-myups-power-failure", "vm-ups-myups-power-has-returned"], [], 2],
  [["problem-disk-on-web1-is-critical", "recovery-disk-on-web1-is-ok"], [], 2],
  [
    [
      "vm-ups-myups-power-failure",
      "vm-communications-with-ups-myups-lost",
      "vm-ups-myups-power-has-returned",
    ],
    ["critical vm:myups:communication"],
    3,
  ],
  [["problem-host-web1-is-down", "recovery-disk-on-web1-is-ok"], ["critical web1:host"], 2],
  [["cron-root-vm-ls-nicht-da-failed", "cron-root-vm-ls-nicht-da-failed-2"], [`critical ${CRON}`], 1],
  [
    [
      "new-station-10-9-8-7-from-file",
      "changed-ethernet-address-10-9-8-7-from-file",
      "flip-flop-10-9-8-7-from-file",
    ],
    [`warning ${ARP}`],
    1,
  ],
  [["fail2ban-t3-started-on-vm", "fail2ban-t3-stopped-on-vm"], ["warning vm:fail2ban:t3"], 2],
  [["monit-alert-connection-succeeded-port", "monit-alert-connection-failed-port"], [], 1, 1],
  [["fail2ban-t3-stopped-on-vm", "fail2ban-t3-started-on-vm"], ["warning vm:fail2ban:t3"], 1, 1],
]

const storiesOn = Effect.fnUntraced(function* (storage: Environment) {
  const cwd = yield* scratchFolder
  let server = yield* startMailServer(cwd, storage)
  for (const [index, [mails, open, changes, late = 0]] of STORIES.entries()) {
    const name = `story-${index}`
    const to = yield* mailbox(server, name)
    for (const [place, file] of mails.entries()) {
      // A server that was restarted goes on from what is stored.
      if (index === 1 && place === 1) {
        yield* server.kill
        server = yield* startMailServer(cwd, storage)
      }
      assert.match((yield* sendMail(server.mailPort, [to], seen(file))).join(), /^250 /, file)
    }
    assert.deepStrictEqual(yield* openOf(server, name), open, name)
    const results = (yield* historyOf(server)).filter(({ agent_id }) => agent_id === name)
    assert.strictEqual(results.length, changes, name)
    const kept = yield* keptOf(server, name)
    assert.strictEqual(kept.length, mails.length, name)
    assert.strictEqual(kept.filter(({ outcome }) => outcome === "late").length, late, name)
  }
  const { stdout } = yield* tocsin({ cwd, environment: storage }, "integrations", "mails", "story-10")
  assert.match(
    stdout,
    /SUBJECT +REASON\n.*late .* a mail of this sender with a later Date was applied before\n/u,
  )
})

/** A mail that was sent again because its answer was lost counts once. */
const killedOn = Effect.fnUntraced(function* (storage: Environment) {
  const cwd = yield* scratchFolder
  let server = yield* startMailServer(cwd, storage)
  const to = yield* mailbox(server, "killed")
  for (const wait of [0, 2, 5, 10, 20]) {
    const mail = `Date: ${new Date().toUTCString()}\nMessage-ID: <${wait}@vm>\nSubject: disk ${wait} failed\n\nx\n`
    const lines = ["EHLO vm", "MAIL FROM:<root@vm>", `RCPT TO:<${to}>`, "DATA", onTheWire(mail)]
    const sending = say(server.mailPort, lines)
    const killing = Effect.andThen(Effect.sleep(`${20 + wait} millis`), server.kill)
    yield* Effect.all([sending, killing], { concurrency: "unbounded" })
    server = yield* startMailServer(cwd, storage)
    assert.match((yield* sendMail(server.mailPort, [to], mail)).join(), /^250 /)
    const found = (yield* historyOf(server)).filter(({ output }) => output?.startsWith(`disk ${wait} `))
    assert.strictEqual(found.length, 1)
  }
  assert.strictEqual((yield* openOf(server, "killed")).length, 5)
})

describe("mails of real programs", () => {
  it.live("open, repeat and resolve incidents on SQLite, over a restart", () =>
    Effect.suspend(() => storiesOn({})),
  )
  it.live("open, repeat and resolve incidents on PostgreSQL, over a restart", () =>
    Effect.flatMap(scratchPostgres, ({ url }) => storiesOn({ DATABASE_URL: Redacted.value(url) })),
  )
  it.live("count once where their answer was lost, on SQLite", () => Effect.suspend(() => killedOn({})))
  it.live("count once where their answer was lost, on PostgreSQL", () =>
    Effect.flatMap(scratchPostgres, ({ url }) => killedOn({ DATABASE_URL: Redacted.value(url) })),
  )
})

describe("a listener for mails", () => {
  it.live("answers each recipient and mail by what became of it", () =>
    Effect.gen(function* () {
      const server = yield* startMailServer(yield* scratchFolder)
      const { mailPort } = server
      const to = yield* mailbox(server, "box", { max_checks: 1 })
      const hello = ["EHLO vm", "MAIL FROM:<>"]
      const unknown = `RCPT TO:<in_${"a".repeat(26)}@vm>`
      assert.deepStrictEqual(
        (yield* say(mailPort, [...hello, unknown, unknown, unknown, "NOOP"]))
          .slice(3)
          .map((one) => one.slice(0, 3)),
        ["550", "550", "421"],
      )
      const [, offers = "", ...others] = yield* say(mailPort, [
        "EHLO vm",
        "AUTH PLAIN",
        `VRFY ${to}`,
        "VRFY a@b",
      ])
      assert.sameMembers(
        offers
          .split("\r\n")
          .slice(1)
          .map((line) => line.slice(4)),
        ["8BITMIME", "SMTPUTF8", "SIZE 10485760"],
      )
      assert.match(others.join(), /^5\d\d .*,252 .*,252 /)
      const taken = yield* sendMail(mailPort, [to.toUpperCase()], "Subject: disk failed\n\n")
      assert.strictEqual(taken.join(), "250 OK: stored")
      assert.match(
        (yield* sendMail(mailPort, [to], "Subject: other failed\n\n")).join(),
        /^452 this integration has 1/,
      )
      assert.match(
        (yield* sendMail(mailPort, [to], `Subject: x\n\n${"x".repeat(70)}\n`.repeat(150_000))).join(),
        /^552 /,
      )
      assert.deepStrictEqual(
        (yield* keptOf(server, "box")).map(({ outcome }) => outcome),
        ["refused", "applied"],
      )
      const large = Buffer.from(`Subject: large failed\n\n${"x".repeat(1_048_576)}`).subarray(0, 1_048_576)
      const tried = yield* operate(server, "POST", "/ops/v1/integrations/box/try", {
        json: { mail: large.toString("base64") },
      })
      assert.include(tried.text, '"status":"critical"')
      const { status } = yield* Effect.orDie(call(server, "GET", `/in/mail/${to.split("@")[0]}`))
      assert.strictEqual(status, 404)
      yield* operate(server, "DELETE", "/ops/v1/integrations/box")
      assert.match((yield* say(mailPort, [...hello, `RCPT TO:<${to}>`])).join(), /,550 no such address$/)
      assert.notInclude(server.output.stderr, to.split("@")[0] ?? to)
    }),
  )

  it.live("has a trial by command name status and check, also of a mail that is late", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const server = yield* startMailServer(cwd)
      const to = (yield* mailbox(server, "box")).replace("@", "+disk@")
      const ago = (minutes: number) => `Date: ${new Date(Date.now() - minutes * 60_000).toUTCString()}\n`
      yield* sendMail(server.mailPort, [to], `${ago(1)}Subject: disk recovered\n\n`)
      writeFileSync(join(cwd, "older.eml"), `From: root@vm\n${ago(9)}Subject: disk failed\n\n`)
      const options = '{"rules": [{"match": {"subject": "disk*"}, "check": "disk"}]}'
      const change = ["integrations", "change", "box", "--options", options]
      assert.strictEqual((yield* tocsin({ cwd, environment: {} }, ...change)).code, 0)
      const { stdout } = yield* tocsin({ cwd, environment: {} }, "integrations", "try", "box", "older.eml")
      assert.strictEqual(
        stdout,
        "critical disk, late: a mail of this sender with a later Date was applied before (rule 1)\n",
      )
    }),
  )

  it.live("speaks LMTP with a reply for each recipient", () =>
    Effect.gen(function* () {
      const server = yield* startMailServer(yield* scratchFolder, { SERVICE_MAIL_PROTOCOL: "lmtp" })
      const to = yield* mailbox(server, "box")
      const replies = yield* say(server.mailPort, [
        "EHLO vm",
        "LHLO vm",
        "MAIL FROM:<root@vm>",
        ...[to, to, to.replace("@", "+nas@")].map((one) => `RCPT TO:<${one}>`),
        "DATA",
        onTheWire("Subject: =?utf-8?q?St=C3=B6rung?= down\n\n<in_abcdefghijklmnopqrstuvwxyz>\n"),
        "QUIT",
        "NOOP",
      ])
      assert.match(replies[1] ?? "", /^500 /)
      assert.include(replies[2] ?? "", "ENHANCEDSTATUSCODES")
      assert.deepStrictEqual(
        replies.slice(8).map((one) => one.slice(0, 3)),
        ["250", "250", "250", "221"],
      )
      assert.deepStrictEqual(
        (yield* keptOf(server, "box")).map(({ check_id, subject }) => `${check_id} ${subject}`).toSorted(),
        ["nas Störung down", "root_vm_St_rung_down.7be9978b3640 Störung down"],
      )
      const { text } = yield* operate(server, "GET", "/ops/v1/checks?agent_id=box")
      assert.include(text, "in_***")
    }),
  )

  it.live("ends at a port in use, and at files that are none", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const server = yield* startMailServer(cwd)
      for (const [environment, message] of [
        [
          { SERVICE_MAIL_PORT: String(server.mailPort) },
          /Tocsin cannot start: .*EADDRINUSE.*SERVICE_MAIL_PORT/,
        ],
        [{ SERVICE_MAIL_TLS_CERT: "a.pem", SERVICE_MAIL_TLS_KEY: "b.pem" }, /must name readable PEM files/],
      ] as const) {
        const exit = yield* Effect.exit(startMailServer(yield* scratchFolder, environment))
        assert.match(String(exit), message)
      }
    }),
  )
})
