import { createDecipheriv, createECDH, hkdfSync, randomBytes } from "node:crypto"

/** The keys of a browser, as base64url. */
export interface BrowserKeys {
  readonly publicKey: string
  readonly privateKey: string
  readonly auth: string
}

export const makeBrowser = (): BrowserKeys => {
  const pair = createECDH("prime256v1")
  pair.generateKeys()
  return {
    publicKey: pair.getPublicKey("base64url"),
    privateKey: pair.getPrivateKey("base64url"),
    auth: randomBytes(16).toString("base64url"),
  }
}

const derived = (secret: Buffer, salt: Buffer, info: Buffer | string, length: number): Buffer =>
  Buffer.from(hkdfSync("sha256", secret, salt, info, length))

/** Decrypts a body as a browser does, from RFC 8291 and RFC 8188 alone. Throws where it cannot. */
export const decryptBy = ({ auth, privateKey, publicKey }: BrowserKeys, body: Buffer): string => {
  const [salt, keyLength] = [body.subarray(0, 16), body[20] ?? 0]
  const sender = body.subarray(21, 21 + keyLength)
  const sealed = body.subarray(21 + keyLength)
  if (sealed.length > body.readUInt32BE(16)) throw new Error("more than one record")
  const pair = createECDH("prime256v1")
  pair.setPrivateKey(Buffer.from(privateKey, "base64url"))
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), Buffer.from(publicKey, "base64url"), sender])
  const secret = derived(pair.computeSecret(sender), Buffer.from(auth, "base64url"), info, 32)
  const key = derived(secret, salt, "Content-Encoding: aes128gcm\0", 16)
  const nonce = derived(secret, salt, "Content-Encoding: nonce\0", 12)
  const decipher = createDecipheriv("aes-128-gcm", key, nonce).setAuthTag(sealed.subarray(-16))
  const record = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()])
  const end = record.findLastIndex((byte) => byte !== 0)
  if (record[end] !== 2) throw new Error("the last record does not end")
  return record.subarray(0, end).toString()
}
