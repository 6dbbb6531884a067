import { assert, describe, it } from "@effect/vitest"
import { createPublicKey, verify } from "node:crypto"
import { decryptBy } from "./PushBrowser.ts"
import {
  encrypted,
  encryptFor,
  isAuth,
  isPoint,
  makeKeyPair,
  padded,
  proofOf,
  topicOf,
  vapidField,
} from "../../src/push/webPush.ts"

/** RFC 8291, appendix A. */
const RFC = {
  plaintext: "When I grow up, I want to be a watermelon",
  auth: "BTBZMqHH6r4Tts7J_aSIgg",
  browserPrivate: "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94",
  browserPublic: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
  privateKey: "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw",
  salt: "DGv6ra1nlYgDCS1FRnbzlw",
  body: "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
}

describe("the encryption of a message", () => {
  it("is that of the example of RFC 8291", () => {
    const body = encryptFor(Buffer.from(RFC.plaintext), {
      auth: RFC.auth,
      p256dh: RFC.browserPublic,
      salt: Buffer.from(RFC.salt, "base64url"),
      privateKey: Buffer.from(RFC.privateKey, "base64url"),
    })
    assert.strictEqual(body.toString("base64url"), RFC.body)
  })

  it("has the record of the example of RFC 8188, section 3.1", () => {
    const bytesOf = (text: string) => Buffer.from(text, "base64url")
    const body = encrypted(Buffer.from("I am the walrus"), {
      secret: bytesOf("yqdlZ-tYemfogSmv7Ws5PQ"),
      salt: bytesOf("I1BsxtFttlv3u_Oo94xnmw"),
      keyId: Buffer.alloc(0),
    })
    assert.strictEqual(
      body.toString("base64url"),
      "I1BsxtFttlv3u_Oo94xnmwAAEAAA-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg",
    )
  })

  it("is read by the browser of that example alone", () => {
    const browser = { auth: RFC.auth, privateKey: RFC.browserPrivate, publicKey: RFC.browserPublic }
    const body = Buffer.from(RFC.body, "base64url")
    assert.strictEqual(decryptBy(browser, body), RFC.plaintext)
    assert.throws(() => decryptBy({ ...browser, auth: "AAAAAAAAAAAAAAAAAAAAAA" }, body))
  })

  it("has 3,103 bytes whatever it says, and another salt and key each time", () => {
    const [browser, { public_key: p256dh }] = [{ auth: RFC.auth, p256dh: RFC.browserPublic }, makeKeyPair()]
    const bodies = ["{}", JSON.stringify({ title: "ü".repeat(1_000) })].map((text) =>
      encryptFor(padded(text), browser),
    )
    assert.deepStrictEqual(
      bodies.map(({ length }) => length),
      [3_103, 3_103],
    )
    const again = encryptFor(padded("{}"), browser)
    assert.notDeepEqual(again.subarray(0, 16), bodies[0]?.subarray(0, 16))
    assert.notDeepEqual(again.subarray(21, 86), bodies[0]?.subarray(21, 86))
    assert.lengthOf(encryptFor(padded("{}"), { auth: RFC.auth, p256dh }), 3_103)
  })
})

describe("the keys of a browser", () => {
  it("are a point of P-256 and 16 bytes", () => {
    const { public_key } = makeKeyPair()
    assert.isTrue(isPoint(public_key))
    assert.isTrue(isPoint(RFC.browserPublic))
    const off = Buffer.from(public_key, "base64url")
    off[64] = (off[64] ?? 0) ^ 1
    for (const bad of [
      off.toString("base64url"),
      "",
      "BA",
      public_key.slice(0, 80),
      `A${public_key.slice(1)}`,
    ])
      assert.isFalse(isPoint(bad), bad)
    assert.isTrue(isAuth(RFC.auth))
    for (const bad of ["", "AAAA", `${RFC.auth}AAAA`]) assert.isFalse(isAuth(bad), bad)
  })
})

describe("the identification of the sender", () => {
  it("is a token of ES256 that the key in it verifies (RFC 8292)", () => {
    const keys = makeKeyPair()
    const claims = { aud: "https://push.example.net", sub: "mailto:push@example.com", exp: 1_453_523_768 }
    const field = vapidField(claims, keys)
    const [, head = "", body = "", signature = "", key = ""] =
      /^vapid t=([^.]+)\.([^.]+)\.([^,]+), k=(.+)$/.exec(field) ?? []
    assert.strictEqual(key, keys.public_key)
    const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString())
    assert.deepStrictEqual(read(head), { typ: "JWT", alg: "ES256" })
    assert.deepStrictEqual(read(body), claims)
    const point = Buffer.from(key, "base64url")
    const [x = "", y = ""] = [point.subarray(1, 33), point.subarray(33)].map((part) =>
      part.toString("base64url"),
    )
    const publicKey = createPublicKey({ format: "jwk", key: { kty: "EC", crv: "P-256", x, y } })
    const isValid = (text: string) =>
      verify(
        "sha256",
        Buffer.from(text),
        { key: publicKey, dsaEncoding: "ieee-p1363" },
        Buffer.from(signature, "base64url"),
      )
    assert.isTrue(isValid(`${head}.${body}`))
    assert.isFalse(isValid(`${head}.${body}x`))
  })

  it("verifies as the example of RFC 8292 does", () => {
    // Section 2.4: ECDSA draws a number, so the example is verified, not repeated.
    const key = "BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs"
    const token =
      "eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3NjgsInN1YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0"
    const signature = "i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L9OkSSHzvoD1oA"
    const point = Buffer.from(key, "base64url")
    const [x = "", y = ""] = [point.subarray(1, 33), point.subarray(33)].map((part) =>
      part.toString("base64url"),
    )
    const publicKey = createPublicKey({ format: "jwk", key: { kty: "EC", crv: "P-256", x, y } })
    assert.isTrue(
      verify(
        "sha256",
        Buffer.from(token),
        { key: publicKey, dsaEncoding: "ieee-p1363" },
        Buffer.from(signature, "base64url"),
      ),
    )
    assert.isTrue(isPoint(key))
  })
})

describe("a push service", () => {
  it("names no incident: a topic and a proof are another one for each browser", () => {
    const [one, other] = [RFC.auth, "AAAAAAAAAAAAAAAAAAAAAA"]
    assert.match(topicOf("incident", one), /^[A-Za-z0-9_-]{32}$/)
    assert.strictEqual(topicOf("incident", one), topicOf("incident", one))
    assert.notStrictEqual(topicOf("incident", one), topicOf("incident", other))
    assert.notStrictEqual(topicOf("incident", one), topicOf("digest", one))
    assert.match(proofOf(one, RFC.browserPublic), /^[0-9a-f]{64}$/)
    assert.notStrictEqual(proofOf(one, RFC.browserPublic), proofOf(other, RFC.browserPublic))
  })
})
