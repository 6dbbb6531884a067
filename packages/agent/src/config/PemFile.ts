import { createPrivateKey, X509Certificate } from "node:crypto"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { codeOf, type Reader, refused, text } from "./Reader.ts"

/** A file of the configuration that was read with it. Only its path is ever printed. */
export class PemFile {
  readonly path: string
  readonly #text: string

  constructor(path: string, content: string) {
    this.path = path
    this.#text = content
  }

  /** The content, which may be a private key. */
  reveal(): string {
    return this.#text
  }

  toJSON(): string {
    return this.path
  }
}

/** A path from the folder of the configuration. A watch of the server has no folder, so it names no file. */
export const fileAt: Reader<string> = (value, place) => {
  if (place.folder === undefined) return refused(place, "has no meaning here: only an agent reads files")
  const read = text({ max: 4_096 })(value, place)
  return read === undefined ? undefined : resolve(place.folder, read)
}

/** A file whose content is judged by `faultOf`, which may throw. */
const pemFile =
  (faultOf: (content: string) => string | undefined): Reader<PemFile> =>
  (value, place) => {
    const path = fileAt(value, place)
    if (path === undefined) return undefined
    try {
      // Of two parts in one line, as of files that end without one, Node.js reads neither; nor behind a mark of UTF-8.
      const content = readFileSync(path, "utf8")
        .replaceAll("\uFEFF", "")
        .replaceAll("----------", "-----\n-----")
      const fault = faultOf(content)
      return fault === undefined ? new PemFile(path, content) : refused(place, fault)
    } catch (error) {
      return refused(place, `cannot be read (${codeOf(error)})`)
    }
  }

const CERTIFICATE = "-----BEGIN CERTIFICATE-----"

/** A file of certificates: Node.js leaves out those that follow a damaged one, and says nothing. */
export const certificateFile = pemFile((content) => {
  const parts = content.split(CERTIFICATE).slice(1)
  const damaged = parts.findIndex((part) => !succeeds(() => new X509Certificate(CERTIFICATE + part)))
  if (parts.length === 0) return "must be a file of PEM certificates"
  return damaged < 0 ? undefined : `has a damaged certificate (number ${damaged + 1}): copy the file again`
})

export const keyFile = pemFile((content) =>
  succeeds(() => createPrivateKey(content))
    ? undefined
    : "must be a private key in PEM that no password encrypts",
)

/** Whether a private key belongs to the first of some certificates. */
export const isPair = (cert: PemFile, key: PemFile): boolean =>
  new X509Certificate(cert.reveal()).checkPrivateKey(createPrivateKey(key.reveal()))

export const hasKey = (file: PemFile): boolean => succeeds(() => createPrivateKey(file.reveal()))

const succeeds = (work: () => unknown): boolean => {
  try {
    work()
    return true
  } catch {
    return false
  }
}
