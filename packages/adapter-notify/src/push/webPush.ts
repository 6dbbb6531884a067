import {
  createCipheriv,
  createECDH,
  createHmac,
  createPrivateKey,
  ECDH,
  hkdfSync,
  randomBytes,
  sign,
} from "node:crypto"
import { MOST_BYTES } from "@tocsin/core/features/push/pushMessage"
import { Result } from "effect"

const CURVE = "prime256v1"
const POINT_BYTES = 65
const AUTH_BYTES = 16
const SALT_BYTES = 16
const KEY_BYTES = 16
const NONCE_BYTES = 12
const SECRET_BYTES = 32
const TAG_BYTES = 16

/** Ends the last record (RFC 8188 §2). */
const LAST = Buffer.of(2)
/** The size of records: one that is longer than the message, which so has one record. */
const RECORD_BYTES = 4_096

const bytesOf = (text: string): Buffer => Buffer.from(text, "base64url")

/** A key pair of P-256, both parts as base64url. */
export const makeKeyPair = () => {
  const pair = createECDH(CURVE)
  pair.generateKeys()
  const secret = Buffer.concat([Buffer.alloc(SECRET_BYTES), pair.getPrivateKey()]).subarray(-SECRET_BYTES)
  return { public_key: pair.getPublicKey("base64url"), private_key: secret.toString("base64url") }
}

/** Whether a text is an uncompressed point of P-256. */
export const isPoint = (text: string): boolean => {
  const bytes = bytesOf(text)
  if (bytes.length !== POINT_BYTES || bytes[0] !== 4) return false
  return Result.isSuccess(Result.try(() => ECDH.convertKey(bytes, CURVE)))
}

export const isAuth = (text: string): boolean => bytesOf(text).length === AUTH_BYTES

const derived = (secret: Buffer, salt: Buffer, info: Buffer | string, length: number): Buffer =>
  Buffer.from(hkdfSync("sha256", secret, salt, info, length))

interface Keys {
  readonly secret: Buffer
  readonly salt: Buffer
  readonly keyId: Buffer
}

/** Bytes as a body of `aes128gcm` with one record (RFC 8188). */
export const encrypted = (content: Buffer, { keyId, salt, secret }: Keys): Buffer => {
  const key = derived(secret, salt, "Content-Encoding: aes128gcm\0", KEY_BYTES)
  const nonce = derived(secret, salt, "Content-Encoding: nonce\0", NONCE_BYTES)
  const cipher = createCipheriv("aes-128-gcm", key, nonce, { authTagLength: TAG_BYTES })
  const size = Buffer.alloc(4)
  size.writeUInt32BE(RECORD_BYTES)
  const head = [salt, size, Buffer.of(keyId.length), keyId]
  return Buffer.concat([
    ...head,
    cipher.update(content),
    cipher.update(LAST),
    cipher.final(),
    cipher.getAuthTag(),
  ])
}

interface Encryption {
  /** The keys of the browser, as base64url. */
  readonly p256dh: string
  readonly auth: string
  /** Drawn for each message; given by tests alone. */
  readonly salt?: Buffer
  readonly privateKey?: Buffer
}

/** Encrypts bytes for one browser (RFC 8291). */
export const encryptFor = (
  content: Buffer,
  { auth, p256dh, privateKey, salt = randomBytes(SALT_BYTES) }: Encryption,
): Buffer => {
  const [browser, pair] = [bytesOf(p256dh), createECDH(CURVE)]
  if (privateKey === undefined) pair.generateKeys()
  else pair.setPrivateKey(privateKey)
  const keyId = pair.getPublicKey()
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), browser, keyId])
  const secret = derived(pair.computeSecret(browser), bytesOf(auth), info, SECRET_BYTES)
  return encrypted(content, { secret, salt, keyId })
}

/** A JSON text in as many bytes as every other one has, so that its length says nothing. */
export const padded = (json: string): Buffer =>
  Buffer.alloc(MOST_BYTES, " ").fill(json, 0, Buffer.byteLength(json))

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url")

export interface VapidClaims {
  /** The origin of the push service. */
  readonly aud: string
  /** Whom it may write to. */
  readonly sub: string
  /** Seconds since 1970. */
  readonly exp: number
}

/** The value of `Authorization` by which a push service knows the sender (RFC 8292). */
export const vapidField = (
  claims: VapidClaims,
  keys: { readonly public_key: string; readonly private_key: string },
): string => {
  const point = bytesOf(keys.public_key)
  const key = createPrivateKey({
    format: "jwk",
    key: {
      kty: "EC",
      crv: "P-256",
      x: point.subarray(1, 33).toString("base64url"),
      y: point.subarray(33).toString("base64url"),
      d: keys.private_key,
    },
  })
  const signed = `${encoded({ typ: "JWT", alg: "ES256" })}.${encoded(claims)}`
  const signature = sign("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" })
  return `vapid t=${signed}.${signature.toString("base64url")}, k=${keys.public_key}`
}

const MAC_OF_TOPIC = 24

/** Names what a message is about to one browser: 32 characters, of which the push service learns nothing. */
export const topicOf = (about: string, auth: string): string =>
  createHmac("sha256", bytesOf(auth))
    .update(`topic:${about}`)
    .digest()
    .subarray(0, MAC_OF_TOPIC)
    .toString("base64url")

/** The secret text by which a browser proves that it has shown a message. */
export const proofOf = (auth: string, p256dh: string): string =>
  createHmac("sha256", bytesOf(auth)).update(`shown:${p256dh}`).digest("hex")
