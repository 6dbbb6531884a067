import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto"
import { readFileSync } from "node:fs"
import { isIP } from "node:net"
import { ACCESS_DENIED, codeOf } from "./toSqlError.ts"
import { type ConnectionOptions, createSecureContext, getCACertificates } from "node:tls"

/** A fault of an address, in words that hold no part of it but names of parameters. */
export class UrlFault extends Error {}

const refuse = (message: string): never => {
  throw new UrlFault(`The database URL cannot be used: ${message}`)
}

/**
 * How a mode uses TLS. As in libpq, but for `require`, which verifies too: one who reads a connection on its way can
 * also answer it.
 */
const MODES = {
  disable: undefined,
  allow: { isOptional: true, verifies: "nothing" },
  prefer: { isOptional: true, verifies: "nothing" },
  require: { isOptional: false, verifies: "the name" },
  "no-verify": { isOptional: false, verifies: "nothing" },
  "verify-ca": { isOptional: false, verifies: "the authority" },
  "verify-full": { isOptional: false, verifies: "the name" },
} as const

type Mode = keyof typeof MODES

const isMode = (text: string): text is Mode => text in MODES

/** Forms of `ssl`, which other clients read: libpq knows `true`, as JDBC has it. */
const SSL: Readonly<Record<string, Mode>> = {
  true: "require",
  "1": "require",
  on: "require",
  false: "disable",
  "0": "disable",
  off: "disable",
}

const modeOf = (parameters: URLSearchParams): Mode | undefined => {
  const [ssl, mode] = [parameters.get("ssl"), parameters.get("sslmode")]
  const bySsl = ssl === null ? undefined : (SSL[ssl] ?? ssl)
  for (const [name, value] of [
    ["ssl", bySsl],
    ["sslmode", mode ?? undefined],
  ] as const)
    if (value !== undefined && !isMode(value))
      refuse(`${name} has an unknown value: write one of ${Object.keys(MODES).join(", ")}`)
  if (bySsl !== undefined && mode !== null && (bySsl === "disable") !== (mode === "disable"))
    refuse("ssl and sslmode contradict each other: remove ssl")
  return (mode ?? bySsl) as Mode | undefined
}

const FILES = ["sslrootcert", "sslcert", "sslkey"] as const
const SYSTEM = "system"

const MARK = "\xEF\xBB\xBF"
/** Between two parts of PEM in one line, of which OpenSSL reads neither. */
const JOINT = "----------"

/** A file's content without the UTF-8 marks that some editors write, each PEM part on separate lines. */
const readNamed = (parameter: string, file: string): Buffer => {
  try {
    const text = readFileSync(file, "latin1").replaceAll(MARK, "").replaceAll(JOINT, "-----\n-----")
    return Buffer.from(text, "latin1")
  } catch (error) {
    const code = codeOf(error) ?? "unreadable"
    if (code === ACCESS_DENIED)
      return refuse(
        `the runtime keeps the file of ${parameter} from this program: grant it (--allow-fs-read of Node.js, --allow-read of Deno)`,
      )
    return refuse(
      `the file of ${parameter} cannot be read (${code}): correct its path, or let Tocsin's user read it`,
    )
  }
}

const CERTIFICATE = "-----BEGIN CERTIFICATE-----"

/** The text of a file of certificates. OpenSSL leaves out those behind a damaged one, and says nothing. */
const certificatesOf = (parameter: string, content: Buffer): string => {
  const text = content.toString("latin1")
  const [, ...parts] = text.split(CERTIFICATE)
  if (parts.length === 0)
    return refuse(
      `the file of ${parameter} has no certificate in PEM: write it as PEM, as by openssl x509 -inform DER`,
    )
  for (const [at, part] of parts.entries()) {
    try {
      new X509Certificate(CERTIFICATE + part)
    } catch {
      return refuse(`certificate ${at + 1} in the file of ${parameter} is damaged: replace the file`)
    }
  }
  return text
}

const keyOf = (content: Buffer, passphrase: string | undefined): KeyObject => {
  try {
    return createPrivateKey({ key: content, ...(passphrase !== undefined && { passphrase }) })
  } catch {
    if (!content.includes("-----BEGIN"))
      return refuse("the file of sslkey has no key in PEM: write it as PEM, as by openssl pkey -inform DER")
    return content.includes("ENCRYPTED")
      ? refuse(
          "the key of sslkey is encrypted: name its password in sslpassword, or decrypt it by openssl pkey",
        )
      : refuse("the file of sslkey has no private key that can be read: make it again")
  }
}

/** The client's certificate with its key, each of which alone shows nothing. */
const ownOf = (parameters: URLSearchParams) => {
  const [cert, key = cert] = [parameters.get("sslcert") ?? undefined, parameters.get("sslkey") ?? undefined]
  if (cert === undefined)
    return key === undefined ? {} : refuse("sslkey needs sslcert: name the file of the certificate")
  const text = certificatesOf("sslcert", readNamed("sslcert", cert))
  const content = readNamed("sslkey", key ?? cert)
  if (key === cert && !content.includes("PRIVATE KEY"))
    return refuse("sslcert needs sslkey: name the file of its private key")
  const secret = keyOf(content, parameters.get("sslpassword") ?? undefined)
  if (!new X509Certificate(text).checkPrivateKey(secret))
    return refuse("sslkey does not belong to the certificate in sslcert: name the key that it was made with")
  return { cert: text, key: secret.export({ type: "pkcs8", format: "pem" }) }
}

/** The authorities that `sslrootcert` names. */
const rootsOf = (file: string, mode: Mode | undefined): string | Array<string> => {
  if (file !== SYSTEM) return certificatesOf("sslrootcert", readNamed("sslrootcert", file))
  // As libpq: any authority of the system signs for any name.
  if (mode !== undefined && mode !== "verify-full")
    return refuse("sslrootcert=system needs sslmode=verify-full: write that, or name a file of authorities")
  const found = getCACertificates(SYSTEM)
  return found.length > 0
    ? found
    : refuse(
        "sslrootcert=system finds no authorities here: install the package ca-certificates, or name a file",
      )
}

/** Made before the first connection: later, a fault of a file would end the process. */
const contextOf = (parameters: URLSearchParams, mode: Mode | undefined): ConnectionOptions => {
  const roots = parameters.get("sslrootcert")
  const options = { ...ownOf(parameters), ...(roots !== null && { ca: rootsOf(roots, mode) }) }
  try {
    // Runtimes that know no context of another call take the rest.
    return { ...options, secureContext: createSecureContext(options) }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown"
    return refuse(
      `OpenSSL refuses the files of ${FILES.filter((name) => parameters.has(name)).join(", ")} (${code}): make them again, with a key of 2048 bits or more`,
    )
  }
}

/** TLS of a connection: what the driver takes, and whether plain text is as well where the server has no TLS. */
export interface DatabaseTls {
  readonly ssl: false | ConnectionOptions
  readonly isOptional: boolean
}

/** Reads what an address says of TLS, for a server of a name. Throws a {@link UrlFault}. */
export const tlsOf = (parameters: URLSearchParams): ((name: string) => DatabaseTls) => {
  const mode = modeOf(parameters)
  const plain: DatabaseTls = { ssl: false, isOptional: false }
  const asks = mode ?? (FILES.some((name) => parameters.has(name)) ? "verify-full" : "disable")
  const terms = MODES[asks]
  if (terms === undefined) return () => plain
  const context = contextOf(parameters, mode)
  const verifies = terms.isOptional && parameters.has("sslrootcert") ? "the authority" : terms.verifies
  return (name) =>
    // As libpq: what stays on this machine is never encrypted.
    /^[/@]/.test(name)
      ? plain
      : {
          isOptional: terms.isOptional,
          ssl: {
            ...context,
            host: name,
            ...(isIP(name) === 0 && { servername: name }),
            rejectUnauthorized: verifies !== "nothing",
            ...(verifies === "the authority" && { checkServerIdentity: () => undefined }),
          },
        }
}
