import { createHash, createHmac, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"
import { Effect } from "effect"

export const CLIENT = { id: "tocsin", secret: "a secret with ~ and :" }

type Json = Readonly<Record<string, unknown>>

/** The faults of an issuer: each changes one thing of what a right one does. */
export interface Faults {
  readonly claims?: Json
  readonly header?: Json
  /** Signs the ID token's first two parts. */
  readonly sign?: (text: string) => Buffer
  /** Replaces the answer of the token endpoint. */
  readonly token?: (response: ServerResponse) => void
  readonly keys?: (response: ServerResponse) => void
  readonly tokenAnswer?: Json
  readonly metadata?: Json
  readonly userinfo?: Json
  /** Replaces the answer of the userinfo endpoint. */
  readonly userinfoAnswer?: (response: ServerResponse) => void
  /** Compares the credentials of `Basic` as they are sent, as LemonLDAP::NG and Glewlwyd do. */
  readonly isUndecoded?: boolean
  /** Encrypts the ID token, as far as a client that decrypts nothing can see. */
  readonly isEncrypted?: boolean
}

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url")

const answer = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { "content-type": "application/json" })
  response.end(JSON.stringify(body))
}

const rsa = () => generateKeyPairSync("rsa", { modulusLength: 2048 })

/** The ways to sign that an issuer may have, with the keys that it publishes. */
const METHODS = {
  RS256: { pair: rsa, sign: (text: string, key: KeyObject) => sign("sha256", Buffer.from(text), key) },
  PS256: {
    pair: rsa,
    sign: (text: string, key: KeyObject) =>
      sign("sha256", Buffer.from(text), { key, padding: 6, saltLength: 32 }),
  },
  ES256: {
    pair: () => generateKeyPairSync("ec", { namedCurve: "P-256" }),
    sign: (text: string, key: KeyObject) =>
      sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" }),
  },
  EdDSA: {
    pair: () => generateKeyPairSync("ed25519"),
    // The other types of keys have other signatures.
    sign: (text: string, key: KeyObject) => sign(null, Buffer.from(text), key),
  },
}
/** The same keys and signatures as EdDSA (RFC 9864). */
const ALL_METHODS = { ...METHODS, Ed25519: METHODS.EdDSA }
export type Algorithm = keyof typeof ALL_METHODS

// Each takes as long as a test.
const FIRST_KEYS = rsa()
const FOREIGN_KEYS = rsa()

interface Grant {
  readonly nonce: string
  readonly challenge: string
}

/** An issuer that a test makes wrong in one way or another. */
export class HostileIssuer {
  readonly #server = createServer((request, response) => void this.#take(request, response))
  readonly #grants = new Map<string, Grant>()
  faults: Faults = {}
  /** How many codes it was asked to exchange. */
  exchanges = 0
  claims: Json = { preferred_username: "ann", groups: ["ops"] }
  #algorithm: Algorithm = "RS256"
  #keys = FIRST_KEYS
  url = ""

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve))
    // A server on a port has such an address.
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  /** Replaces the keys under the same name. */
  rotate(algorithm: Algorithm = this.#algorithm): void {
    this.#algorithm = algorithm
    this.#keys = ALL_METHODS[algorithm].pair()
  }

  /** The code of a person who has signed in there. */
  grant({ nonce, verifier }: { readonly nonce: string; readonly verifier: string }): string {
    const code = randomBytes(16).toString("hex")
    this.#grants.set(code, { nonce, challenge: createHash("sha256").update(verifier).digest("base64url") })
    return code
  }

  readonly signed = (text: string): Buffer => ALL_METHODS[this.#algorithm].sign(text, this.#keys.privateKey)

  #idToken(nonce: string): string {
    const now = Math.floor((performance.timeOrigin + performance.now()) / 1_000)
    const { claims, header, sign: signing = this.signed } = this.faults
    const usual = { iss: this.url, sub: "7f3a", aud: CLIENT.id, nonce, iat: now, exp: now + 300 }
    const text = [
      encoded({ alg: this.#algorithm, kid: "one", ...header }),
      encoded({ ...usual, ...this.claims, ...claims }),
    ].join(".")
    const signature = signing(text).toString("base64url")
    if (this.faults.isEncrypted === true)
      return [encoded({ alg: "RSA-OAEP", enc: "A256GCM" }), "key", "iv", "text", "tag"].join(".")
    return `${text}.${signature}`
  }

  #metadata(): Json {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      jwks_uri: `${this.url}/keys`,
      userinfo_endpoint: `${this.url}/userinfo`,
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["none", "HS256", ...Object.keys(ALL_METHODS)],
      authorization_response_iss_parameter_supported: true,
      ...this.faults.metadata,
    }
  }

  #exchange(body: URLSearchParams, authorization: string | undefined): readonly [number, unknown] {
    const plain = Buffer.from(authorization?.slice("Basic ".length) ?? "", "base64").toString()
    const decode = (part: string) =>
      this.faults.isUndecoded === true ? part : decodeURIComponent(part.replaceAll("+", "%20"))
    const [id, secret] =
      authorization === undefined
        ? [body.get("client_id"), body.get("client_secret")]
        : plain.split(":").map(decode)
    if (id !== CLIENT.id || secret !== CLIENT.secret)
      return [401, { error: "invalid_client", error_description: "no\u0007 such client" }]
    const code = body.get("code") ?? ""
    const grant = this.#grants.get(code)
    this.#grants.delete(code)
    const challenge = createHash("sha256")
      .update(body.get("code_verifier") ?? "")
      .digest("base64url")
    if (grant?.challenge !== challenge) return [400, { error: "invalid_grant" }]
    const usual = { access_token: "access", token_type: "Bearer", id_token: this.#idToken(grant.nonce) }
    return [200, { ...usual, ...this.faults.tokenAnswer }]
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = new URLSearchParams((await buffer(request)).toString())
    switch (request.url) {
      case "/.well-known/openid-configuration":
        return answer(response, 200, this.#metadata())
      case "/keys":
        if (this.faults.keys !== undefined) return this.faults.keys(response)
        return answer(response, 200, {
          keys: [{ ...this.#keys.publicKey.export({ format: "jwk" }), kid: "one", use: "sig" }],
        })
      case "/token": {
        this.exchanges += 1
        if (this.faults.token !== undefined) return this.faults.token(response)
        const [status, said] = this.#exchange(body, request.headers.authorization)
        return answer(response, status, said)
      }
      default:
        if (this.faults.userinfoAnswer !== undefined) return this.faults.userinfoAnswer(response)
        return answer(response, 200, { sub: "7f3a", ...this.faults.userinfo })
    }
  }
}

export const openHostileIssuer = Effect.acquireRelease(
  Effect.promise(async () => {
    const issuer = new HostileIssuer()
    await issuer.open()
    return issuer
  }),
  (issuer) => Effect.sync(() => issuer.close()),
)

/** Signs by a secret, as an attacker would who knows the public key or the client's secret. */
export const hmac =
  (secret: string) =>
  (text: string): Buffer =>
    createHmac("sha256", secret).update(text).digest()

/** The signature of another key. */
export const foreign = (text: string): Buffer => METHODS.RS256.sign(text, FOREIGN_KEYS.privateKey)
