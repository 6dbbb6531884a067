import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { SubscriptionId } from "@tocsin/contract/push/Push"
import type { SubscriptionRecord } from "@tocsin/core/heart/model/SubscriptionRecord"
import { Duration } from "effect"
import { browserFindings } from "../../../src/features/push/examineBrowsers.ts"

const NOW = Instant.fromMillis(Date.UTC(2026, 10, 30))
const row = (name: string, more: Partial<SubscriptionRecord> = {}) => {
  const whole: SubscriptionRecord = {
    id: SubscriptionId.make("0".repeat(32)),
    operator: "ann",
    name,
    service: "push.example",
    ciphertext: "sealed",
    key_id: "00000000",
    session: undefined,
    created_at: NOW,
    expires_at: undefined,
    taken_at: NOW,
    tested_at: undefined,
    shown_at: NOW,
    last_error: undefined,
    ...more,
  }
  return { row: whole, state: "readable" }
}
const inDays = (days: number) => Instant.plus(NOW, Duration.days(days))

describe("browsers in tocsin doctor", () => {
  it("need attention where they show nothing, end soon, or have lost their key", () => {
    const findings = browserFindings(
      {
        browsers: [
          row("Desk"),
          row("Mute", { shown_at: undefined }),
          row("New", { shown_at: undefined, taken_at: undefined }),
          row("Late", { operator: "oidc:bob", expires_at: inDays(13) }),
          row("Fresh", { operator: "oidc:bob", expires_at: inDays(15) }),
          { ...row("Lost"), state: "unreadable" },
        ],
        key: "unreadable",
      },
      NOW,
    )
    assert.deepStrictEqual(
      findings.map(({ level, message }) => [
        level,
        /\w+ of (?:ann|oidc:bob)|the key by which/.exec(message)?.[0],
      ]),
      [
        ["attention", "Mute of ann"],
        ["attention", "Late of oidc:bob"],
        ["attention", "Lost of ann"],
        ["attention", "the key by which"],
      ],
    )
  })

  it("are counted, and no finding without any", () => {
    const [found] = browserFindings({ browsers: [row("Desk")], key: "readable" }, NOW)
    assert.deepInclude(found, { level: "ok", message: "1 browser can be notified" })
    assert.deepStrictEqual(browserFindings({ browsers: [], key: "absent" }, NOW), [])
  })
})
