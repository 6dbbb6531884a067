import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { type SignInRefusal, SignInRefusals, signInRefusals } from "@tocsin/contract/signIn/SignInRefusals"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { Secrets } from "@tocsin/server/Secrets"
import { checkedSettings } from "@tocsin/server/settings/checkedSettings"
import { signInIssuer } from "@tocsin/server/features/signIn/signInIssuer"
import { Context, Effect, Layer, Result } from "effect"
import { Tocsin } from "../http/service/Tocsin.ts"
import { AT_LENGTH } from "../properties/atLength.ts"
import { CLIENT, type Faults, foreign, hmac, type HostileIssuer, openHostileIssuer } from "./HostileIssuer.ts"

const ORIGIN = "https://tocsin.example"
const PERSON = { nonce: "a nonce", verifier: "v".repeat(43) }

const settingsFor = (issuer: string) => ({
  SERVICE_PUBLIC_URL: `${ORIGIN}/monitoring`,
  SERVICE_OIDC_ISSUER: issuer,
  SERVICE_OIDC_CLIENT_ID: CLIENT.id,
  SERVICE_OIDC_CLIENT_SECRET: CLIENT.secret,
  SERVICE_OIDC_RESPOND: "ops, on call",
  SERVICE_OIDC_ADMIN: "ops-admins",
  DATABASE_URL: "memory:",
})

/** A replica of a server that signs people in, over a storage. */
const replica = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  issuer: string,
  further: Readonly<Record<string, string>> = {},
  burst = 60,
) {
  const settings = Result.getOrThrow(checkedSettings({ ...settingsFor(issuer), ...further }))
  const layer = Tocsin.layer(Layer.succeed(Storage, storage), {
    signInIssuer: yield* signInIssuer(settings, new Secrets(settings)),
    rules: { publicUrl: settings.SERVICE_PUBLIC_URL, failedAuthenticationRate: { perMinute: 60, burst } },
  })
  const { clock, port, uiToken } = Context.get(yield* Layer.build(Layer.fresh(layer)), Tocsin)
  const ask = (method: string, path: string, token?: string, init: RequestInit = {}) =>
    Effect.promise(async () => {
      const headers = { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...init.headers }
      const answer = await fetch(`http://127.0.0.1:${port}/ops/v1/${path}`, { ...init, method, headers })
      // The definition of the API states the bodies.
      const body = (await answer.json()) as Body
      return { status: answer.status, headers: answer.headers, body }
    })
  const signIn = (body: object, origin: string | undefined = ORIGIN) =>
    ask("POST", "session", undefined, {
      body: JSON.stringify(body),
      headers: { "content-type": "application/json", ...(origin !== "" && { origin }) },
    })
  return { ask, clock, signIn, uiToken }
})

const start = Effect.fnUntraced(function* (further?: Readonly<Record<string, string>>, burst?: number) {
  const issuer = yield* openHostileIssuer
  const storage = Context.get(yield* Layer.build(MemoryStorage.layer), Storage)
  const here = yield* replica(storage, issuer.url, further, burst)
  /** A person returns from the issuer to the page, which posts the code. */
  const signIn = (changes: object = {}, origin?: string) =>
    Effect.suspend(() => here.signIn({ code: issuer.grant(PERSON), ...PERSON, ...changes }, origin))
  return { ...here, issuer, signIn, storage }
})

/** The fields of all answers. */
interface Body {
  readonly token: string
  readonly name: string
  readonly role: string
  readonly expires_at: string
  readonly count: number
  readonly items: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly oidc: Readonly<Record<string, string>>
  readonly error: { readonly message: string }
}

const now = () => Math.floor((performance.timeOrigin + performance.now()) / 1_000)

interface Case {
  readonly refusal: SignInRefusal
  readonly faults?: (issuer: HostileIssuer) => Faults
  readonly request?: object
  readonly claims?: Readonly<Record<string, unknown>>
  readonly origin?: string
  /** A part of the message. */
  readonly says?: string
  readonly settings?: Readonly<Record<string, string>>
}

const CASES: Readonly<Record<string, Case>> = {
  "another page": { refusal: "origin", origin: "https://evil.example" },
  "no origin": { refusal: "origin", origin: "" },
  "an unknown code": { refusal: "code", request: { code: "guessed" } },
  "another verifier": { refusal: "code", request: { verifier: "w".repeat(43) } },
  "another nonce": { refusal: "nonce", request: { nonce: "that of another page" } },
  "no nonce in the ID token": { refusal: "token", faults: () => ({ claims: { nonce: undefined } }) },
  "another issuer": { refusal: "issuer", faults: () => ({ claims: { iss: "https://evil.example" } }) },
  "another audience": { refusal: "audience", faults: () => ({ claims: { aud: "another" } }) },
  "a further audience": {
    refusal: "audience",
    faults: () => ({ claims: { aud: [CLIENT.id, "another"], azp: "another" } }),
  },
  "no signature": {
    refusal: "signature",
    faults: () => ({ header: { alg: "none", kid: undefined }, sign: () => Buffer.alloc(0) }),
  },
  "a signature by the client's secret": {
    refusal: "signature",
    faults: () => ({ header: { alg: "HS256" }, sign: hmac(CLIENT.secret) }),
  },
  "an algorithm that is not allowed": { refusal: "signature", faults: () => ({ header: { alg: "RS512" } }) },
  "a signature by another key": { refusal: "signature", faults: () => ({ sign: foreign }) },
  "a key that is not published": { refusal: "signature", faults: () => ({ header: { kid: "two" } }) },
  "an expired ID token": { refusal: "time", faults: () => ({ claims: { exp: now() - 90 } }) },
  "an ID token of the future": { refusal: "time", faults: () => ({ claims: { nbf: now() + 90 } }) },
  "no ID token": { refusal: "token", faults: () => ({ tokenAnswer: { id_token: undefined } }) },
  "no subject": { refusal: "token", faults: () => ({ claims: { sub: undefined } }) },
  "userinfo of another person": {
    refusal: "userinfo",
    claims: { groups: undefined },
    faults: () => ({ userinfo: { sub: "another", groups: ["ops"] } }),
  },
  "userinfo signed by an algorithm without a key": {
    refusal: "userinfo",
    claims: { groups: undefined },
    faults: () => ({
      userinfoAnswer: (it) => {
        const unsigned = [{ alg: "HS256" }, { sub: "7f3a" }].map((part) =>
          Buffer.from(JSON.stringify(part)).toString("base64url"),
        )
        it.writeHead(200, { "content-type": "application/jwt" }).end(`${unsigned.join(".")}.AAAA`)
      },
    }),
  },
  "an encrypted ID token": { refusal: "encrypted", faults: () => ({ isEncrypted: true }) },
  "an issuer that takes keys of clients alone": {
    refusal: "unreachable",
    faults: () => ({ metadata: { token_endpoint_auth_methods_supported: ["private_key_jwt"] } }),
    says: "takes clients by private_key_jwt alone",
  },
  "an issuer that wants pushed requests": {
    refusal: "unreachable",
    faults: () => ({ metadata: { require_pushed_authorization_requests: true } }),
    says: "wants pushed authorization requests (PAR)",
  },
  "no group": { refusal: "role", claims: { groups: ["sales", "it"] }, says: "groups has sales, it" },
  "no claim": { refusal: "role", claims: { groups: undefined }, says: "the claim groups is absent" },
  "too many groups": {
    refusal: "overage",
    claims: { groups: undefined, _claim_names: { groups: "src1" }, _claim_sources: { src1: {} } },
  },
  "a person of another company": {
    refusal: "requirement",
    settings: { SERVICE_OIDC_REQUIRE: "hd=example.org", SERVICE_OIDC_READ: "*" },
    claims: { hd: "example.com" },
    says: "hd has example.com",
  },
  "another secret of the client": {
    refusal: "client",
    settings: { SERVICE_OIDC_CLIENT_SECRET: "old" },
    says: "(invalid_client: no  such client)",
  },
  "an issuer that fails": {
    refusal: "unreachable",
    faults: () => ({ token: (it) => void it.writeHead(500).end() }),
  },
  "keys that are not there": {
    refusal: "unreachable",
    faults: () => ({ keys: (it) => void it.writeHead(404).end() }),
  },
  "a redirect": {
    refusal: "unreachable",
    faults: ({ url }) => ({ token: (it) => void it.writeHead(307, { location: `${url}/elsewhere` }).end() }),
  },
  "an answer without an end": {
    refusal: "unreachable",
    faults: () => ({
      token: (it) => {
        it.writeHead(200, { "content-type": "application/json" })
        // Once the reader has left, every write fails at once.
        const more = (failure?: Error | null) => {
          if (!failure) it.write(" ".repeat(65_536), more)
        }
        more()
      },
    }),
  },
  "no metadata": {
    refusal: "unreachable",
    faults: () => ({ metadata: { issuer: "https://another.example" } }),
    says: "has another name",
  },
  // Takes five seconds.
  ...(AT_LENGTH && {
    "an issuer that hangs": { refusal: "unreachable", faults: () => ({ token: () => {} }) },
  }),
}

describe("a sign-in", () => {
  it.live("begins a session under the person's name, which ends everywhere at once", () =>
    Effect.gen(function* () {
      const { ask, issuer, signIn, storage, uiToken } = yield* start()
      const there = yield* replica(storage, issuer.url)
      const options = yield* ask("GET", "session")
      assert.deepStrictEqual(options.body.oidc, {
        name: issuer.url.slice("http://".length),
        client_id: CLIENT.id,
        scopes: "openid profile email",
        redirect_uri: `${ORIGIN}/monitoring/`,
        authorization_endpoint: `${issuer.url}/authorize`,
      })
      issuer.faults = { metadata: { end_session_endpoint: `${issuer.url}/logout?x=1` } }
      const later = yield* replica(storage, issuer.url)
      assert.strictEqual(
        (yield* later.ask("GET", "session")).body.oidc?.["end_session_url"],
        `${issuer.url}/logout?x=1&client_id=${CLIENT.id}`,
      )
      issuer.faults = { metadata: { end_session_endpoint: "javascript:alert(1)" } }
      const odd = yield* replica(storage, issuer.url)
      assert.isUndefined((yield* odd.ask("GET", "session")).body.oidc?.["end_session_url"])
      issuer.faults = {}
      const { body: begun, headers, status } = yield* signIn()
      assert.strictEqual(status, 201)
      assert.strictEqual(headers.get("cache-control"), "no-store")
      const { expires_at, name, role, token } = begun
      assert.deepStrictEqual([name, role, expires_at], ["oidc:ann", "respond", "2026-03-01T20:00:00.000Z"])
      assert.match(token, /^session_[A-Za-z0-9_-]{43}$/)

      const me = yield* there.ask("GET", "me", token)
      assert.deepInclude(me.body, { name: "oidc:ann", role: "respond", expires_at })
      assert.strictEqual((yield* there.ask("GET", "sessions", token)).status, 403)
      const listed = yield* ask("GET", "sessions", uiToken)
      const { id, ...session } = listed.body.items[0] ?? {}
      assert.deepStrictEqual(session, { name, role, expires_at, created_at: "2026-03-01T12:00:00.000Z" })
      assert.strictEqual((yield* ask("DELETE", `sessions/${String(id)}`, uiToken)).body.count, 1)
      assert.strictEqual((yield* there.ask("GET", "me", token)).status, 401)
      assert.strictEqual((yield* ask("DELETE", `sessions/${String(id)}`, uiToken)).body.count, 0)

      const { body: again } = yield* signIn()
      assert.strictEqual((yield* there.ask("DELETE", "session", again.token)).body.count, 1)
      assert.strictEqual((yield* ask("GET", "me", again.token)).status, 401)
      // A token that is no session's stays as it is.
      assert.strictEqual((yield* ask("DELETE", "session", uiToken)).body.count, 0)
      const { body: audit } = yield* ask("GET", "audit?limit=9", uiToken)
      // Each replica makes its own IDs.
      assert.sameDeepMembers(
        audit.items.map(({ action, actor, parameters }) => [action, String(actor).split("-")[0], parameters]),
        [
          ["session.signed_out", "oidc:ann", { name: "oidc:ann" }],
          ["session.began", "oidc:ann", { role: "respond", expires_at }],
          ["session.ended", "token", { name: "oidc:ann" }],
          ["session.began", "oidc:ann", { role: "respond", expires_at }],
        ],
      )
    }),
  )

  it.live("ends at its time, and where its issuer is no longer that of the server", () =>
    Effect.gen(function* () {
      const { ask, clock, issuer, signIn, storage } = yield* start({ SERVICE_OIDC_SESSION: "1h" })
      const { token } = (yield* signIn()).body
      const other = yield* openHostileIssuer
      const elsewhere = yield* replica(storage, other.url)
      assert.strictEqual((yield* elsewhere.ask("GET", "me", token)).status, 401)
      assert.strictEqual((yield* ask("GET", "me", token)).status, 200)
      clock.advance("1 hour")
      assert.strictEqual((yield* ask("GET", "me", token)).status, 401)
      issuer.close()
    }),
  )

  it.live("is not possible with a code twice, and is with each algorithm and with keys that changed", () =>
    Effect.gen(function* () {
      const { issuer, signIn } = yield* start()
      const code = issuer.grant(PERSON)
      assert.strictEqual((yield* signIn({ code })).status, 201)
      assert.strictEqual((yield* signIn({ code })).status, 401)
      for (const algorithm of ["RS256", "PS256", "ES256", "EdDSA", "Ed25519"] as const) {
        issuer.rotate(algorithm)
        assert.strictEqual((yield* signIn()).status, 201, algorithm)
      }
    }),
  )

  it.live("takes an ID token whose clock differs by less than a minute, and groups of userinfo", () =>
    Effect.gen(function* () {
      const { issuer, signIn } = yield* start()
      issuer.faults = {
        claims: { groups: undefined, preferred_username: undefined, nbf: now() + 45, exp: now() - 45 },
        userinfo: { groups: ["sales", "ops-admins"], email: "Bob@Example.org", email_verified: true },
      }
      assert.deepInclude((yield* signIn()).body, { name: "oidc:bob_example.org", role: "admin" })
    }),
  )

  it.live(
    "authenticates the server the other way at an issuer that does not decode Basic, with the same code",
    () =>
      Effect.gen(function* () {
        const both = { token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"] }
        const post = { token_endpoint_auth_methods_supported: ["client_secret_post"] }
        const basic = { token_endpoint_auth_methods_supported: ["client_secret_basic"] }
        const { clock, issuer, signIn } = yield* start()
        for (const [faults, status, exchanges] of [
          [{ isUndecoded: true, metadata: both }, 201, 2],
          [{ metadata: both }, 201, 1],
          [{ isUndecoded: true, metadata: post }, 201, 1],
          [{ metadata: basic }, 201, 1],
          [{ isUndecoded: true, metadata: basic }, 502, 1],
        ] as const) {
          issuer.faults = faults
          const before = issuer.exchanges
          // Metadata are read again after ten seconds.
          clock.advance("10 seconds")
          assert.deepStrictEqual([(yield* signIn()).status, issuer.exchanges - before], [status, exchanges])
        }
      }),
  )

  it.live.each(Object.entries(CASES))("is refused for %s", ([, row]) =>
    Effect.gen(function* () {
      const { ask, issuer, signIn, uiToken } = yield* start(row.settings)
      issuer.claims = { ...issuer.claims, ...row.claims }
      issuer.faults = row.faults?.(issuer) ?? {}
      const { body, status } = yield* signIn(row.request, row.origin)
      const [expected, message] = SignInRefusals[row.refusal]
      assert.deepStrictEqual([status, body.error.message.slice(0, message.length)], [expected, message])
      assert.include(body.error.message, row.says ?? "")
      assert.deepStrictEqual((yield* ask("GET", "sessions", uiToken)).body.items, [])
    }),
  )

  it("is refused as docs/sign-in.md says", () => {
    const page = readFileSync("docs/sign-in.md", "utf8")
    const rows = Object.entries(SignInRefusals).map((row) => `| \`${row[0]}\` | ${row[1].join(" | ")} |`)
    assert.include(page, rows.join("\n"))
  })

  it("has a case for each refusal", () => {
    const covered = new Set(Object.values(CASES).map(({ refusal }) => refusal))
    assert.sameMembers([...covered, "busy", "limited", "invitation", "used_invitation"], [...signInRefusals])
  })

  it.live("is possible again once the issuer is, which the options say", () =>
    Effect.gen(function* () {
      const { ask, clock, issuer, signIn, uiToken } = yield* start()
      issuer.faults = { metadata: { id_token_signing_alg_values_supported: ["HS256"] } }
      const offer = Effect.map(ask("GET", "session"), ({ body }) => body.oidc)
      assert.include(
        (yield* offer)["problem"],
        "signs ID tokens with none of RS256, PS256, ES256, EdDSA, Ed25519",
      )
      assert.strictEqual((yield* signIn()).status, 502)
      assert.strictEqual((yield* ask("GET", "me", uiToken)).status, 200)
      issuer.faults = { metadata: { authorization_endpoint: "javascript:alert(1)" } }
      clock.advance("10 seconds")
      assert.include((yield* offer)["problem"], "lack a authorization_endpoint")
      issuer.faults = {}
      clock.advance("10 seconds")
      assert.isUndefined((yield* offer)["problem"])
      assert.strictEqual((yield* signIn()).status, 201)
    }),
  )

  it.live("has eight turns; what finds none free spends nothing of the budget", () =>
    Effect.gen(function* () {
      const { issuer, signIn } = yield* start({}, 9)
      const [busyStatus, busy] = SignInRefusals.busy
      let release = () => {}
      const held = new Promise<void>((resolve) => (release = resolve))
      issuer.faults = { token: (it) => void held.then(() => it.writeHead(500).end()) }
      const messages = yield* Effect.forEach(
        Array.from({ length: 9 }),
        () =>
          Effect.map(signIn(), ({ body, status }) => {
            assert.strictEqual(status, busyStatus)
            release()
            return body.error.message
          }),
        { concurrency: "unbounded" },
      )
      assert.lengthOf(
        messages.filter((message) => message === busy),
        1,
      )
      assert.strictEqual((yield* signIn()).status, 502)
      assert.strictEqual((yield* signIn()).status, 429)
    }),
  )

  it.live(
    "reaches the issuer within the budget of refused sign-ins, which good ones and bad tokens leave alone",
    () =>
      Effect.gen(function* () {
        const { ask, clock, issuer, signIn, uiToken } = yield* start({}, 4)
        const guess = signIn({ code: "guessed" })
        for (const [act, status, reaches] of [
          ...Array.from({ length: 6 }, () => [signIn(), 201, 1] as const),
          ...Array.from({ length: 6 }, () => [ask("GET", "me", "guessed"), 401, 0] as const),
          ...Array.from({ length: 6 }, () => [signIn({}, "https://evil.example"), 403, 0] as const),
          ...Array.from({ length: 3 }, () => [guess, 401, 1] as const),
          [signIn(), 201, 1],
          [guess, 401, 1],
          [guess, 429, 0],
          [signIn(), 429, 0],
          [ask("GET", "me", "guessed"), 401, 0],
          [ask("GET", "me", uiToken), 200, 0],
        ] as const) {
          const before = issuer.exchanges
          const answer = yield* act
          assert.deepStrictEqual([answer.status, issuer.exchanges - before], [status, reaches])
          assert.strictEqual(answer.headers.get("retry-after"), status === 429 ? "1" : null)
        }
        clock.advance("1 second")
        assert.strictEqual((yield* signIn()).status, 201)
      }),
  )
})
