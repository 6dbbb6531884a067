import { assert, describe, it } from "@effect/vitest"
import { nearestName } from "@tocsin/contract/formats/nearestName"

const settings = ["SERVICE_AUTH_TOKEN", "SERVICE_READ_TOKEN", "SERVICE_PORT", "SERVICE_HOST"]

describe("the name that was probably meant", () => {
  it.each([
    ["SERVICE_AUTH_TOKENS", settings, "SERVICE_AUTH_TOKEN"],
    ["SERVICE_AUHT_TOKEN", settings, "SERVICE_AUTH_TOKEN"],
    ["SERVICE_PROT", settings, "SERVICE_PORT"],
    ["service_host", settings, "SERVICE_HOST"],
    ["SERVICE_ENTIRELY_DIFFERENT", settings, undefined],
    ["hist", ["history", "incidents", "outbox", "pending"], "history"],
    ["intervall", ["url", "interval"], "interval"],
    ["baseURL", ["baseUrl", "token"], "baseUrl"],
    ["clsoe", ["load", "write", "close"], "close"],
    ["colour", ["url", "interval"], undefined],
    ["", ["url"], undefined],
    ["x".repeat(10_000), ["url"], undefined],
  ])("of %s", (name, known, expected) => assert.strictEqual(nearestName(name, known), expected))
})
