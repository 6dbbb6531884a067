import { checkedSettings } from "@tocsin/server/settings/checkedSettings"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"

const WHOLE = {
  SERVICE_PUBLIC_URL: "https://tocsin.example",
  SERVICE_OIDC_ISSUER: "https://id.example/realms/main/",
  SERVICE_OIDC_CLIENT_ID: "tocsin",
  SERVICE_OIDC_CLIENT_SECRET: "a-secret-of-the-client",
  SERVICE_OIDC_READ: "staff, on call",
}

/** The problems of these settings, one a line; empty if a server starts with them. */
const problemsOf = (changes: Readonly<Record<string, string>>): string =>
  Result.match(checkedSettings({ ...WHOLE, ...changes }), {
    onSuccess: () => "",
    onFailure: ({ problems }) => problems.join("\n"),
  })

describe("the settings of sign-in", () => {
  it("keep the issuer as it is, and the spaces in values", () => {
    const read = Result.getOrThrow(checkedSettings(WHOLE))
    assert.strictEqual(read.SERVICE_OIDC_ISSUER, WHOLE.SERVICE_OIDC_ISSUER)
    assert.deepStrictEqual(read.SERVICE_OIDC_READ, ["staff", "on call"])
  })

  it("may be a list as JSON, whose values contain commas", () => {
    const list = ["cn=ops,ou=groups,dc=example,dc=org", "on call"]
    const read = checkedSettings({ ...WHOLE, SERVICE_OIDC_READ: JSON.stringify(list) })
    assert.deepStrictEqual(Result.getOrThrow(read).SERVICE_OIDC_READ, list)
  })

  it.each<[names: string, changes: Readonly<Record<string, string>>]>([
    ["SERVICE_OIDC_CLIENT_ID", { SERVICE_OIDC_CLIENT_ID: "" }],
    ["SERVICE_OIDC_CLIENT_SECRET", { SERVICE_OIDC_CLIENT_SECRET: "" }],
    ["SERVICE_PUBLIC_URL", { SERVICE_PUBLIC_URL: "" }],
    ["SERVICE_PUBLIC_URL", { SERVICE_PUBLIC_URL: "http://tocsin.example" }],
    ["SERVICE_OIDC_ISSUER gives people no role", { SERVICE_OIDC_READ: "" }],
    ["SERVICE_OIDC_REQUIRE", { SERVICE_OIDC_READ: "*" }],
    ["SERVICE_OIDC_READ needs SERVICE_OIDC_ISSUER", { SERVICE_OIDC_ISSUER: "" }],
    ["SERVICE_OIDC_ISSUER", { SERVICE_OIDC_ISSUER: "http://id.example" }],
    ["SERVICE_OIDC_ISSUER", { SERVICE_OIDC_ISSUER: "http://localhost.evil.example" }],
    ["SERVICE_OIDC_ISSUER", { SERVICE_OIDC_ISSUER: "https://user@id.example" }],
    ["SERVICE_OIDC_SCOPES", { SERVICE_OIDC_SCOPES: "profile email" }],
    ["SERVICE_OIDC_REQUIRE", { SERVICE_OIDC_REQUIRE: "hd" }],
    ["SERVICE_OIDC_READ", { SERVICE_OIDC_READ: "[cn=ops,dc=example]" }],
    ["SERVICE_OIDC_READ", { SERVICE_OIDC_READ: "[]" }],
    ["SERVICE_OIDC_REQUIRE", { SERVICE_OIDC_READ: '["*"]' }],
  ])("are refused at the start, by the name of %s, where they lack something", (name, changes) => {
    const problems = problemsOf(changes)
    assert.include(problems, name)
    assert.notInclude(problems, WHOLE.SERVICE_OIDC_CLIENT_SECRET)
  })

  it("take an issuer on this machine without TLS, and everyone with a claim", () => {
    const changes = {
      SERVICE_PUBLIC_URL: "http://localhost:8080",
      SERVICE_OIDC_ISSUER: "http://127.0.0.1:9000",
      SERVICE_OIDC_READ: "*",
      SERVICE_OIDC_REQUIRE: "hd=example.org",
    }
    assert.strictEqual(problemsOf(changes), "")
  })
})
