import { assert, describe, it } from "@effect/vitest"
import { pushMessage } from "@tocsin/core/features/push/pushMessage"
import type { DeliveryAttempt } from "@tocsin/core/heart/notifications/Notifiers"
import { Duration } from "effect"
import { linked } from "../messages.ts"
import { firing, resolved } from "../notifications.ts"

const warning = { ...firing, severity: "warning" as const }
const over = { ...firing, incident: resolved.incident }

/** How a digest of these looks in a browser. */
const looksOf = (...notifications: ReadonlyArray<DeliveryAttempt>) => {
  const { renotify, requireInteraction, silent } = JSON.parse(
    pushMessage({ about: "digest", notifications }, "TOKEN").text,
  )
  return { renotify, requireInteraction, silent }
}

describe("a digest in a browser (docs/rules.md#browsers)", () => {
  it.each([
    ["stays where one of it is critical", [warning, firing], true, true],
    ["rings", [warning, warning], true, false],
    ["goes where what was critical has resolved", [warning, over], true, false],
    ["is silent where all have resolved", [resolved, resolved], false, false],
  ] as const)("%s", (_, notifications, rings, stays) => {
    assert.deepStrictEqual(looksOf(...notifications), {
      renotify: rings,
      silent: !rings,
      requireInteraction: stays,
    })
  })
})

describe("a message of a browser", () => {
  it("has no address either where it is about several", () => {
    const { text } = pushMessage({ about: "digest", notifications: [linked, linked] }, "TOKEN")
    assert.include(text, "CRITICAL: web-1/disk: /var is 97 % full")
    assert.notInclude(text, "https:")
  })

  const acknowledge = { token: "0".repeat(96), for: Duration.hours(1) }

  it("has neither details nor labels nor links of others", () => {
    const { text } = pushMessage({ about: "notification", notification: linked, acknowledge }, "TOKEN")
    assert.include(text, "/var is 97 % full")
    for (const hidden of [
      "3.1 GiB",
      "mount",
      "team",
      "prom.example",
      "wiki.example",
      "tocsin.example",
      "Full",
    ])
      assert.notInclude(text, hidden)
    const ended = pushMessage({ about: "notification", notification: resolved, acknowledge: undefined }, "T")
    assert.notProperty(JSON.parse(ended.text), "link")
  })

  it("fits 3,000 bytes whatever it says, cut at a character", () => {
    for (const letter of ["x", "\u00fc", "\u91cd", "\u{1f525}", '"', "\\"])
      for (const lang of ["en", "ja"] as const) {
        const summary = letter.repeat(4_000)
        const notification = { ...firing, lang, title: summary.slice(0, 100), summary }
        const { text } = pushMessage({ about: "notification", notification, acknowledge }, "TOKEN")
        assert.isAtMost(Buffer.byteLength(text), 3_000)
        assert.isAbove(Buffer.byteLength(text), 2_400)
        assert.isTrue(JSON.parse(text).body.isWellFormed(), letter)
      }
  })
})
