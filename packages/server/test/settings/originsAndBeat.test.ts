import { checkedSettings } from "@tocsin/server/settings/checkedSettings"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Redacted, Result } from "effect"

const read = (environment: Readonly<Record<string, string>>) =>
  Result.getOrThrow(checkedSettings(environment))

const complaint = (environment: Readonly<Record<string, string>>): string => {
  const result = checkedSettings(environment)
  assert(Result.isFailure(result))
  return result.failure.message
}

it.each(["SERVICE_DEAD_AFTER", "SERVICE_RETENTION_HISTORY", "SERVICE_DELIVERY_LEASE"])(
  "%s is a hundred years at most",
  (name) => {
    assert.isTrue(Result.isSuccess(checkedSettings({ [name]: "36500d" })))
    assert.include(complaint({ [name]: "36501d" }), "36500d")
  },
)

describe("SERVICE_ACK_FOR", () => {
  it("is not longer than SERVICE_ACK_MAX, whichever is set", () => {
    const message = "SERVICE_ACK_FOR must not be longer than SERVICE_ACK_MAX"
    assert.include(complaint({ SERVICE_ACK_MAX: "4h" }), message)
    assert.include(complaint({ SERVICE_ACK_FOR: "8d" }), message)
    assert.isTrue(Result.isSuccess(checkedSettings({ SERVICE_ACK_FOR: "4h", SERVICE_ACK_MAX: "4h" })))
  })
})

describe("SERVICE_PUBLIC_URL", () => {
  it("is a base of links, without a slash at its end", () => {
    assert.strictEqual(
      read({ SERVICE_PUBLIC_URL: "https://a.example/" }).SERVICE_PUBLIC_URL,
      "https://a.example",
    )
    assert.strictEqual(
      read({ SERVICE_PUBLIC_URL: "http://a.example:8080/b//" }).SERVICE_PUBLIC_URL,
      "http://a.example:8080/b",
    )
  })

  it.each(["a.example", "ftp://a.example", "https://u:p@a.example", "https://a.example/?q", "https://a b"])(
    "is not %s",
    (text) => assert.match(complaint({ SERVICE_PUBLIC_URL: text }) ?? "", /SERVICE_PUBLIC_URL is set to /),
  )

  it("is shown without the password that it must not have", () => {
    for (const name of ["SERVICE_PUBLIC_URL", "SERVICE_ALLOWED_ORIGINS"]) {
      const message = complaint({ [name]: "https://admin:hunter2@a.example" })
      assert.include(message, `${name} is set to "https://…@a.example", but must be`)
    }
  })
})

describe("SERVICE_ALLOWED_ORIGINS", () => {
  it("is none unless set, a list, or every origin", () => {
    assert.isUndefined(read({}).SERVICE_ALLOWED_ORIGINS)
    assert.deepStrictEqual(
      read({ SERVICE_ALLOWED_ORIGINS: " https://a.example,https://b.example:8443  http://localhost:3000 " })
        .SERVICE_ALLOWED_ORIGINS,
      ["https://a.example", "https://b.example:8443", "http://localhost:3000"],
    )
    assert.strictEqual(read({ SERVICE_ALLOWED_ORIGINS: "*" }).SERVICE_ALLOWED_ORIGINS, "*")
  })

  it("is refused in any form that no browser sends", () => {
    for (const text of ["https://a.example/", "a.example", "null", "* https://a.example", ","]) {
      const message = complaint({ SERVICE_ALLOWED_ORIGINS: text })
      assert.include(
        message,
        `SERVICE_ALLOWED_ORIGINS is set to ${JSON.stringify(text)}, but must be origins as browsers`,
      )
    }
  })
})

describe("SERVICE_WATCHDOG_URL", () => {
  it("is none unless set, and a secret", () => {
    assert.isUndefined(read({}).SERVICE_WATCHDOG_URL)
    const settings = read({
      SERVICE_WATCHDOG_URL: "https://hc-ping.com/uuid",
      SERVICE_WATCHDOG_INTERVAL: "5m",
    })
    assert(settings.SERVICE_WATCHDOG_URL !== undefined)
    assert.strictEqual(Redacted.value(settings.SERVICE_WATCHDOG_URL), "https://hc-ping.com/uuid")
    assert.strictEqual(Duration.toMinutes(settings.SERVICE_WATCHDOG_INTERVAL), 5)
    assert.strictEqual(Duration.toSeconds(read({}).SERVICE_WATCHDOG_INTERVAL), 60)
  })

  it("is refused where notifiers must not send either, and never shown", () => {
    for (const [url, words] of [
      ["ftp://secret.example/ping", "is set to a value that is not shown, but must be a URL"],
      ["http://169.254.169.254/secret", "must not be a link-local or cloud metadata address"],
      ["http://secret%zz:x@hc.example/", "must have a percent-encoded user name and password"],
    ] as const) {
      const message = complaint({ SERVICE_WATCHDOG_URL: url })
      assert.include(message, `SERVICE_WATCHDOG_URL ${words}`)
      assert.notInclude(message, "secret.example")
      assert.notInclude(message, "/secret")
    }
    assert.include(
      complaint({ SERVICE_WATCHDOG_URL: "http://10.0.0.1/ping", SERVICE_DENY_PRIVATE_TARGETS: "true" }),
      "SERVICE_WATCHDOG_URL must not be a link-local or cloud metadata address, nor a private one",
    )
  })
})
