import { assert, describe, it } from "@effect/vitest"
import { begunAt, challengeOf, isBegun, readReturn } from "../../../src/features/signIn/codeFlow.ts"

const BEGUN = { ...begunAt("#/incidents?tab=notes"), state: "its-own" }

describe("a sign-in of the console", () => {
  it("has the challenge of RFC 7636, appendix B", async () => {
    assert.strictEqual(
      await challengeOf("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
      "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    )
  })

  it("draws a verifier, a state and a nonce of 43 characters each", () => {
    const [first, second] = [begunAt(""), begunAt("")]
    const drawn = [first, second].flatMap(({ nonce, state, verifier }) => [nonce, state, verifier])
    assert.strictEqual(new Set(drawn).size, 6)
    for (const text of drawn) assert.match(text, /^[A-Za-z0-9_-]{43}$/)
    // Anyone can write into the storage of a tab.
    assert.deepStrictEqual([first, { ...first, nonce: 1 }, null, "x"].map(isBegun), [
      true,
      false,
      false,
      false,
    ])
  })

  it("posts the code with the verifier and the nonce of the state, and leads back to its place", () => {
    const { nonce, place, verifier } = BEGUN
    const read = readReturn("?code=a%2Fcode&state=its-own&iss=https%3A%2F%2Fid.example", BEGUN)
    assert.deepStrictEqual(read, { returned: { code: "a/code", verifier, nonce }, place })
  })

  it.each([
    ["code=1&state=another", "This sign-in began in another tab", ""],
    ["error=access_denied&state=another", "This sign-in began in another tab", ""],
    [
      "error=access_denied&state=its-own",
      "The issuer did not sign you in (access_denied). Sign in again and agree",
      BEGUN.place,
    ],
    [
      "error=invalid_request&error_description=PKCE%07%20is%20required&state=its-own",
      "(invalid_request: PKCE  is required). Ask an administrator to compare this client's settings",
      BEGUN.place,
    ],
    [
      `error=server_error&error_description=${"x".repeat(999)}&state=its-own`,
      `${"x".repeat(186)}). Try again.`,
      BEGUN.place,
    ],
  ])("posts nothing after a return with %s", (query, fault, place) => {
    const read = readReturn(query, BEGUN)
    assert.strictEqual(read?.place, place)
    assert(read !== undefined && "fault" in read.returned)
    assert.include(read.returned.fault, fault)
  })

  it.each(["", "code=1", "state=its-own", "error=access_denied"])("finds no return in “%s”", (query) => {
    assert.isUndefined(readReturn(query, BEGUN))
  })
})
