import { hash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { decideMail } from "@tocsin/core/features/integrations/mail/decideMail"
import { seenMail } from "@tocsin/core/features/integrations/mail/SeenMail"
import { parseMail } from "@tocsin/adapter-mail/parseMail"
import { DELIVERY_REPORTS, RETURNED } from "./deliveryReports.ts"
import { SEEN_MAILS } from "./seenMails.ts"

const folder = new URL("mails/", import.meta.url)

const sha256 = (text: string) => hash("sha256", text)

const read = async (file: string) => {
  const { date, ...parsed } = await parseMail(readFileSync(new URL(`${file}.eml`, folder)))
  const sent_at = date === undefined ? undefined : Instant.fromMillis(date)
  return seenMail({ ...parsed, sender: "root@vm", sent_at })
}

describe("a mail that a real program sent", () => {
  it.each(SEEN_MAILS)("%s is of %s", async (file, by, check_id, status, host, title) => {
    const seen = await read(file ?? "")
    const decision = decideMail(seen, { check: "", options: {}, sha256 })
    assert.strictEqual(decision.by, by)
    if (decision.outcome === "ignored") return assert.strictEqual(status, "ignored")
    const { labels, output = "", ...report } = decision.report
    assert.deepStrictEqual(
      [report.check_id, report.status, labels?.["host"], labels?.["title"]],
      [check_id, status, host, title],
    )
    assert.match(
      labels?.["from"] ?? "",
      /^(?:root|monit|fail2ban|arpwatch)@(?:vm(?:\.example\.org)?|localhost)$/,
    )
    assert.strictEqual(output.split("\n")[0], seen.subject)
  })

  it("is among the rows", () => {
    const files = readdirSync(folder).map((name) => name.replace(/\.eml$/, ""))
    assert.sameMembers(
      files,
      SEEN_MAILS.map(([file]) => file),
    )
  })
})

describe("the delivery report of a real mail server", () => {
  it.each(DELIVERY_REPORTS)("of %s returns our mail", async (_, report) => {
    const { bounce, isReport } = await parseMail(Buffer.from(report))
    assert.isTrue(isReport)
    assert.strictEqual(bounce?.message_id, RETURNED)
    assert.match(bounce?.status ?? "", /^5\.[01]\.[01]$/)
  })
})
