import { afterEach, assert, describe, it, vi } from "@effect/vitest"
import { obstacle } from "../../../src/features/push/thisBrowser.ts"

interface Browser {
  readonly isSecure?: boolean
  readonly permission?: string
  readonly pushes?: boolean
  readonly standalone?: boolean
}

/** What a browser says to somebody who wants notifications. */
const saidIn = ({ isSecure = true, permission = "default", pushes = true, standalone }: Browser) => {
  vi.stubGlobal("isSecureContext", isSecure)
  vi.stubGlobal("Notification", pushes ? { permission } : undefined)
  vi.stubGlobal("window", pushes ? { PushManager: {} } : {})
  vi.stubGlobal("navigator", {
    ...(pushes && { serviceWorker: {} }),
    ...(standalone !== undefined && { standalone, maxTouchPoints: 5 }),
  })
  return obstacle()
}

describe("an obstacle to notifications (docs/rules.md#browsers)", () => {
  afterEach(() => void vi.unstubAllGlobals())

  it.each([
    ["nothing", {}, undefined],
    ["nothing once allowed", { permission: "granted" }, undefined],
    ["nothing on the home screen of an iPhone", { standalone: true }, undefined],
    [
      "a page without TLS",
      { isSecure: false, pushes: false },
      /Open it by an address that begins with https/,
    ],
    ["a browser without push", { pushes: false }, /^This browser cannot receive notifications/],
    ["a refusal", { permission: "denied" }, /Allow them in the browser's settings of this page/],
    ["a tab of an iPhone", { pushes: false, standalone: false }, /press Share, then Add to Home Screen/],
  ] as const)("%s", (_, browser, words) => {
    const said = saidIn(browser)
    if (words === undefined) assert.isUndefined(said)
    else assert.match(said ?? "", words)
  })
})
