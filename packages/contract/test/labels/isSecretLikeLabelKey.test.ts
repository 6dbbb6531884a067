import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { isSecretLikeLabelKey } from "../../src/labels/isSecretLikeLabelKey.ts"

const WORDS = [
  "password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "privatekey", "signingkey",
  "encryptionkey", "credential", "authorization", "bearer", "cookie", "sessionid", "connectionstring",
] // oxfmt-ignore
const SEGMENTS = ["pass", "pwd", "auth", "jwt", "session"]

const capitalised = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)
const separator = fc.constantFrom(".", "_", ":", "-")
// Letters that make up none of the words, so that only what is put between them counts.
const filler = fc.stringMatching(/^[fgmlx]{0,8}$/)

describe("isSecretLikeLabelKey", () => {
  it.each(WORDS)("finds %s within the joined segments, however it is written", (word) => {
    fc.assert(
      fc.property(filler, filler, fc.nat({ max: word.length }), separator, (before, after, at, mark) => {
        const split = `${word.slice(0, at)}${mark}${word.slice(at)}`
        for (const key of [word, word.toUpperCase(), capitalised(word), split]) {
          assert.isTrue(isSecretLikeLabelKey(`${before}${key}${after}`), `${before}${key}${after}`)
        }
      }),
    )
  })

  it.each(SEGMENTS)("finds %s where it is a whole segment, and only there", (word) => {
    fc.assert(
      fc.property(filler, filler, separator, separator, (before, after, left, right) => {
        assert.isTrue(isSecretLikeLabelKey(`${before}${left}${word}${right}${after}`))
        assert.isTrue(isSecretLikeLabelKey(`${before}${capitalised(word)}${capitalised(after)}`))
        assert.isFalse(isSecretLikeLabelKey(`x${word}`))
        assert.isFalse(isSecretLikeLabelKey(`${word}x`))
      }),
    )
  })

  it.each([
    "db.password", "API_KEY", "apiKey", "x-api-key", "AccessKeyId", "Secret", "to.ken", "dbPass", "DBPass", "HTTPAuth",
    "myJWT", "jwtId", "user-session", "session_id", "auth", "pass", "http.auth.type", "a1Pwd", "Cookies",
  ])("refuses %s", (key) => {
    assert.isTrue(isSecretLikeLabelKey(key))
  }) // oxfmt-ignore

  it.each([
    "service_agent_version", "env", "compass", "author", "bypass", "passive", "key", "authored", "sessions2", "tok-x-en",
    "obsession", "pwd2", "__proto__", "constructor", "", ".", "a.b-c:d_e",
  ])("allows %s", (key) => {
    assert.isFalse(isSecretLikeLabelKey(key))
  }) // oxfmt-ignore
})
