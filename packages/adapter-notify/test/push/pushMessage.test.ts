import { assert, describe, it } from "@effect/vitest"
import { pushMessage } from "@tocsin/core/features/push/pushMessage"
import type { DeliveryAttempt } from "@tocsin/core/heart/notifications/Notifiers"
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
