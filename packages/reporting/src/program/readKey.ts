import { TOKEN } from "@tocsin/contract/BearerToken"
import { type FileSystem, makeFile } from "../agent/makeFile.ts"
import { nodeModule } from "./Platform.ts"

interface ReadingFileSystem extends FileSystem {
  readonly readFileSync: (path: string, encoding: "utf8") => string
}

const KEY_BYTES = 32

const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")

/** A key that nobody has. */
export const newKey = (): string => hexOf(globalThis.crypto.getRandomValues(new Uint8Array(KEY_BYTES)))

const FINGERPRINT_LENGTH = 16

/**
 * The fingerprint that operators compare before they accept a key: the server shows the same
 * (docs/rules.md#agent-keys).
 */
export const fingerprintOf = async (key: string): Promise<string> =>
  hexOf(
    new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", new TextEncoder().encode(key))),
  ).slice(0, FINGERPRINT_LENGTH)

/** The key in a file; makes it on the first use. Throws errors for people. */
export const keyIn = (path: string): string => {
  const fs = nodeModule<ReadingFileSystem>("node:fs")
  if (fs === undefined)
    throw new Error("keyFile needs files, which are missing here: give the key as agentKey")
  try {
    if (!fs.existsSync(path)) makeFile(fs, path, () => `${newKey()}\n`)
    const key = fs.readFileSync(path, "utf8").trim()
    if (TOKEN.test(key)) return key
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`keyFile ${path} cannot be read or made (${why}); its folder must exist and be writable`)
  }
  throw new Error(`keyFile ${path} holds no key: remove it, start again, and accept the new fingerprint`)
}
