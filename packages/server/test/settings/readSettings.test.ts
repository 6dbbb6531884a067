import { checkedSettings } from "@tocsin/server/settings/checkedSettings"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"

describe("the text of a setting", () => {
  it("is unset if it contains only spaces", () => {
    for (const text of ["", " ", "\n"]) {
      assert.isUndefined(
        Result.getOrThrow(checkedSettings({ SERVICE_TRUST_PROXY: text })).SERVICE_TRUST_PROXY,
      )
    }
  })

  it("is read without the spaces around it", () => {
    const settings = {
      SERVICE_PORT: "8081",
      SERVICE_HOST: "0.0.0.0",
      SERVICE_STALE_AFTER: "90s",
      SERVICE_HEARTBEAT_RATE: "120/60",
      DATABASE_URL: "memory:",
      SERVICE_LOG_LEVEL: "debug",
    }
    const spaced = Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, ` ${value} \n`]))
    assert.deepStrictEqual(
      Result.getOrThrow(checkedSettings(spaced)),
      Result.getOrThrow(checkedSettings(settings)),
    )
  })
})
