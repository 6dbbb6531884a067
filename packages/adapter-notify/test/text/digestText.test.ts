import { assert, describe, it } from "@effect/vitest"
import type { Severity } from "@tocsin/contract/Status"
import { slackMedium } from "../../src/messenger/messengerSlack.ts"
import { telegramMedium } from "../../src/messenger/messengerTelegram.ts"
import { digestText } from "../../src/text/digestText.ts"
import { firing, resolved, shared } from "../notifications.ts"

const many = (count: number, severity: Severity = "warning", summary = "low") =>
  Array.from({ length: count }, () => ({ ...firing, severity, summary }))

describe("a digest", () => {
  it("has the count, then a line for each notification, the most severe first", () => {
    assert.strictEqual(
      digestText([...many(1), shared, firing], telegramMedium),
      [
        "3 incidents are firing",
        "CRITICAL: web-1/disk: /var is 97 % full",
        "WARNING: web-1/disk: low",
        "WARNING: storage <rack 4> & others: /var is 97 % full",
      ].join("\n"),
    )
    assert.strictEqual(
      digestText([resolved, resolved], slackMedium).split("\n")[1],
      "RESOLVED: web-1/disk (was critical): /var is 97 % full",
    )
  })

  it("says which of the firing incidents have resolved, after those that are open", () => {
    const ended = { ...firing, incident: resolved.incident }
    assert.strictEqual(
      digestText([ended, ...many(1), shared], telegramMedium),
      [
        "3 incidents fired, 1 of them resolved by now",
        "WARNING: web-1/disk: low",
        "WARNING: storage <rack 4> & others: /var is 97 % full",
        "CRITICAL: web-1/disk (resolved by now): /var is 97 % full",
      ].join("\n"),
    )
  })

  it("has at most 20 lines beside the count, and counts the others", () => {
    for (const [count, lines, last] of [
      [20, 20, "WARNING: web-1/disk: low"],
      [21, 20, "… and 2 more"],
      [100, 20, "… and 81 more"],
    ] as const) {
      const [head, ...rest] = digestText(many(count), slackMedium).split("\n")
      assert.deepStrictEqual([head, rest.length, rest.at(-1)], [`${count} incidents are firing`, lines, last])
    }
  })

  it("fits its medium, escapes included, and keeps every line whole", () => {
    for (const medium of [slackMedium, telegramMedium]) {
      const text = digestText(many(100, "critical", "<@all>\n".repeat(400)), medium)
      assert.isAtMost(text.length, medium.limit)
      assert.strictEqual(text.split("\n").length, 21)
    }
    assert.notMatch(digestText(many(3, "warning", "<@all>"), slackMedium), /<|(^|\W)@\w/m)
  })
})
