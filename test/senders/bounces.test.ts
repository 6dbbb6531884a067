import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Queue, Redacted } from "effect"
import { startMailServer as startRelay } from "../../packages/adapter-notify/test/email/MailServer.ts"
import { outboxOf } from "../processes/api.ts"
import { scratchFolder, scratchPostgres } from "../processes/scratch.ts"
import type { Environment } from "../processes/secrecy.ts"
import { until } from "../processes/until.ts"
import { mailbox, startMailServer } from "./mailbox.ts"
import { sendMail } from "./MailClient.ts"
import { DELIVERY_REPORTS as REPORTS, RETURNED as OURS } from "./deliveryReports.ts"

const POLICY = `
receivers:
  ops: { kind: messenger, type: email, url_env: MAIL_URL, from: tocsin@vm.example.org, to: [gone@x.example], tls: off }
routes:
  - to: [ops]
`

/** Of the mails that a server sends, one of each is returned; reports on others change nothing. */
const returnedOn = Effect.fnUntraced(function* (storage: Environment) {
  const cwd = yield* scratchFolder
  writeFileSync(join(cwd, "policy.yaml"), POLICY)
  const relay = yield* startRelay()
  const server = yield* startMailServer(cwd, {
    ...storage,
    SERVICE_POLICY_FILE: "policy.yaml",
    MAIL_URL: `smtp://127.0.0.1:${relay.port}`,
  })
  const to = yield* mailbox(server, "box")
  const report = (mail: string) => sendMail(server.mailPort, [to], mail, "")
  assert.isNotEmpty(REPORTS)
  const [, any = ""] = REPORTS[0] ?? []
  const send = Effect.fnUntraced(function* (name: string) {
    yield* sendMail(server.mailPort, [to], `From: root@vm\nSubject: ${name} failed\n\nx\n`)
    const { raw } = yield* Queue.take(relay.mails)
    const id = /^Message-ID: <(\S+)>/im.exec(raw)?.[1] ?? ""
    const item = Effect.map(outboxOf(server), (all) => all.find((one) => one.id === id.split("@")[0]))
    yield* until(
      "it is sent",
      Effect.map(item, (one) => one?.state === "sent"),
    )
    return { id, item }
  })
  for (const [name, mail] of REPORTS) {
    const { id, item } = yield* send(name)
    const others = [
      any.replaceAll(OURS, id).replace("Action: failed", "Action: delayed"),
      any.replaceAll(OURS, `${id.slice(0, 30)}abcdef@vm.example.org`),
      any.replaceAll(OURS, id.replace("@vm.", "@other.")),
      any.replaceAll(OURS, id).replaceAll("message/delivery-status", "text/plain"),
      `From: x@x\nSubject: Undelivered Mail Returned to Sender\n\nMessage-ID: <${id}>\nAction: failed\n`,
    ]
    for (const other of others) assert.match((yield* report(other)).join(), /^250 /)
    assert.strictEqual((yield* item)?.state, "sent", name)
    assert.match((yield* report(mail.replaceAll(OURS, id))).join(), /^250 /)
    const { last_error, state } = (yield* item) ?? {}
    assert.strictEqual(state, "failed", name)
    assert.match(last_error ?? "", /^bounced: 5\.\d+\.\d+$/, name)
  }
  if (Object.keys(storage).length === 0) {
    // A sixth mail of this minute would be part of a digest.
    const { id, item } = yield* send("that another server may have sent, by its policy")
    const database = new DatabaseSync(join(cwd, "data", "tocsin.db"), { timeout: 10_000 })
    database.exec("CREATE TEMP TABLE other AS SELECT * FROM replica; UPDATE other SET id = 'other'")
    database.exec("INSERT INTO replica SELECT * FROM other")
    database.close()
    yield* report(any.replaceAll(OURS, id.replace("@vm.", "@other.")))
    return assert.strictEqual((yield* item)?.state, "failed")
  }
  const { id, item } = yield* send("the last before its receiver moved")
  writeFileSync(join(cwd, "policy.yaml"), POLICY.replace("@vm.", "@moved."))
  yield* server.signal("SIGHUP")
  yield* until(
    "the policy is read again",
    Effect.sync(() => server.output.stderr.includes("the policy was read again")),
  )
  yield* report(any.replaceAll(OURS, id))
  assert.strictEqual((yield* item)?.state, "failed")
})

describe("the delivery report of a real mail server", () => {
  it.live("marks what was sent on SQLite, and nothing else", () => Effect.suspend(() => returnedOn({})))
  it.live("marks what was sent on PostgreSQL, and nothing else", () =>
    Effect.flatMap(scratchPostgres, ({ url }) => returnedOn({ DATABASE_URL: Redacted.value(url) })),
  )
})
