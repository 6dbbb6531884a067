import { assert, describe, it } from "@effect/vitest"
import { obstacleIn } from "../../../src/features/push/obstacle.ts"

const DESK = { serviceWorker: {}, maxTouchPoints: 0 }
const PHONE = { serviceWorker: {}, maxTouchPoints: 1 }
const PUSH = { isSecureContext: true, PushManager: {} }
const BARE = { isSecureContext: true }

describe("an obstacle to notifications (docs/rules.md#browsers)", () => {
  it.each([
    ["none in Firefox and Chromium", { ...PUSH, navigator: DESK }, "default", undefined],
    ["none in Chromium of a phone", { ...PUSH, navigator: PHONE }, "granted", undefined],
    [
      "none on the home screen of an iPhone",
      { ...PUSH, navigator: { ...PHONE, standalone: true } },
      "default",
      undefined,
    ],
    ["none in Safari of a Mac", { ...PUSH, navigator: { ...DESK, standalone: false } }, "default", undefined],
    [
      "a page without TLS, which has no workers",
      { isSecureContext: false, navigator: { maxTouchPoints: 0 } },
      "denied",
      /an address that begins with https/,
    ],
    [
      "a tab of an iPhone",
      { ...BARE, navigator: { ...PHONE, standalone: false } },
      undefined,
      /Share, then Add to Home Screen/,
    ],
    [
      "a Safari of a Mac from before push",
      { ...BARE, navigator: { ...DESK, standalone: false } },
      "default",
      /^This browser cannot receive notifications/,
    ],
    [
      "a private window of Firefox, which has no workers",
      { ...PUSH, navigator: { maxTouchPoints: 0 } },
      "default",
      /^This browser cannot receive notifications/,
    ],
    [
      "a browser without notifications",
      { ...PUSH, navigator: PHONE },
      undefined,
      /^This browser cannot receive notifications/,
    ],
    [
      "a refusal",
      { ...PUSH, navigator: DESK },
      "denied",
      /Allow them in the browser's settings of this page/,
    ],
  ] as const)("is %s", (_, window, permission, words) => {
    const said = obstacleIn(window, permission)
    if (words === undefined) assert.isUndefined(said)
    else assert.match(said ?? "", words)
  })
})
