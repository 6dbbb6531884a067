import { assert, describe, it } from "@effect/vitest"
import { obstacleIn } from "../../../src/features/push/obstacle.ts"

const ABLE = { isSecure: true, isPossible: true, isRefused: false, isTabOfPhone: false }

describe("an obstacle to notifications (docs/rules.md#browsers)", () => {
  it.each([
    ["is none", {}, undefined],
    ["is none in a tab of a phone that can", { isTabOfPhone: true }, undefined],
    ["is a page without TLS", { isSecure: false, isPossible: false }, /an address that begins with https/],
    ["is a browser without push", { isPossible: false }, /^This browser cannot receive notifications/],
    ["is a refusal", { isRefused: true }, /Allow them in the browser's settings of this page/],
    ["is a tab of an iPhone", { isPossible: false, isTabOfPhone: true }, /Share, then Add to Home Screen/],
  ] as const)("%s", (_, facts, words) => {
    const said = obstacleIn({ ...ABLE, ...facts })
    if (words === undefined) assert.isUndefined(said)
    else assert.match(said ?? "", words)
  })
})
