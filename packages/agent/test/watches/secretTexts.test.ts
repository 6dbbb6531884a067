import { assert, describe, it } from "@effect/vitest"
import { withoutSecretTexts } from "../../src/watches/secretTexts.ts"

describe("an output", () => {
  const secrets = {
    headers: {
      "X-Key": 'k€y 1"2',
      Accept: "text/plain",
      "x-short": "abc",
      "x-path": "one/two three",
      authorization: "Bearer t0ken-of-header",
    },
    auth: { basic: { user: "robot", password: "p4ss/word" } },
    body: { query: { token: "in-the-body" } },
  }

  it.each([
    ['is "k€y 1"2"', 'is "***"'],
    ["percent k%E2%82%ACy%201%222", "percent ***"],
    [
      "in small letters k%e2%82%acy%201%222, as a form k%E2%82%ACy+1%222",
      "in small letters ***, as a form ***",
    ],
    ["a path /one/two%20three", "a path /***"],
    ['JSON k€y 1\\"2', "JSON ***"],
    [`Basic ${Buffer.from("robot:p4ss/word").toString("base64")}`, "Basic ***"],
    ["robot and p4ss%2Fword", "*** and ***"],
    ["a token t0ken-of-header", "a token ***"],
    ["it sent in-the-body", "it sent ***"],
    ['{"query":{"token":"in-the-body"}}', "***"],
    ['cut "p4ss/wo…" and on', 'cut "***…" and on'],
    ["text/plain and abc stay", "text/plain and abc stay"],
  ])("%j shows no secret", (output, shown) => {
    assert.strictEqual(withoutSecretTexts(output, secrets), shown)
  })
})
