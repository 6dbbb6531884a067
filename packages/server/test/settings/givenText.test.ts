import { givenText } from "@tocsin/server/settings/givenText"
import { checkedSettings } from "@tocsin/server/settings/checkedSettings"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"

const textOf = (isSecret: boolean, value: string) =>
  Result.getOrThrow(givenText("SERVICE_NAME", isSecret, { SERVICE_NAME: value })).text

describe("the text of a setting", () => {
  it.each(["a", " a", "a ", "\ta\t", "a\n", "\r\n a \r\n"])(
    "is what stands in %j without what surrounds it",
    (value) => {
      for (const isSecret of [true, false]) assert.strictEqual(textOf(isSecret, value), "a")
    },
  )

  it("is none where nothing else stands there", () => {
    for (const value of ["", " ", "\n"]) assert.isUndefined(textOf(false, value))
  })

  it("is read alike with and without spaces", () => {
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
