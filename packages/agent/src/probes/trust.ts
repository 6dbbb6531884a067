import type { SecureContext } from "node:tls"
import { certificateFile, hasKey, isPair, keyFile, type PemFile } from "../config/PemFile.ts"
import { type Place, type Reader, refused } from "../config/Reader.ts"

export const SYSTEM = "system"

/** The authorities to trust: those of the operating system, or of a file. */
const authorities: Reader<PemFile | typeof SYSTEM> = (value, place) => {
  if (value !== SYSTEM || place.folder === undefined) return certificateFile(value, place)
  const { getCACertificates } = process.getBuiltinModule("node:tls")
  if (getCACertificates(SYSTEM).length > 0) return SYSTEM
  return refused(place, "is empty here: install the package ca-certificates, or name a file")
}

/** Whom a probe trusts, and the certificate that it shows to the server. */
export const trustFields = { ca: authorities, cert: certificateFile, key: keyFile }

/** The settings of {@link trustFields}. */
export interface Trust {
  readonly ca?: PemFile | typeof SYSTEM
  readonly cert?: PemFile
  readonly key?: PemFile
}

/** A client's certificate needs its key, which may be in the same file. A file that was refused is there, without a value. */
export const judgeTrust = (settings: Trust, place: Place): void => {
  const { cert, key = "key" in settings ? undefined : cert } = settings
  const refuse = (name: string, message: string) => place.refuse(message, [...place.path, name])
  if (!("cert" in settings) && key !== undefined)
    refuse("key", "needs cert: name the file of its certificate")
  if (cert === undefined || key === undefined) return
  if (!hasKey(key)) refuse("cert", "needs key: name the file of its private key")
  else if (!isPair(cert, key)) refuse("key", "does not belong to the certificate in cert")
}

const PEM = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/** The certificates of the authorities to trust. */
export const authoritiesOf = ({ ca }: Trust): ReadonlyArray<string> => {
  const { getCACertificates } = process.getBuiltinModule("node:tls")
  return ca === undefined || ca === SYSTEM ? getCACertificates(ca) : (ca.reveal().match(PEM) ?? [])
}

/** The options of a connection to a device that speaks TLS 1.0, where no certificate is verified. */
export const OLD_TLS = { minVersion: "TLSv1", ciphers: "DEFAULT:@SECLEVEL=0" } as const

/** Trusts what a file names also where that is no root: an authority below one, or the certificate of the server. */
export const PARTIAL_CHAIN = { allowPartialTrustChain: true }

/** Made once for settings: the authorities of a system are many. */
const contexts = new WeakMap<Trust, SecureContext>()

/** The options of a TLS connection; none where a probe trusts as Node.js does and shows no certificate. */
export const trusting = async (
  settings: Trust,
): Promise<{ readonly secureContext?: SecureContext | undefined }> => {
  const { ca, cert, key = cert } = settings
  if (ca === undefined && cert === undefined) return {}
  // Loaded only where it is used: TLS takes some megabytes.
  const { createSecureContext, getCACertificates } = await import("node:tls")
  const made =
    contexts.get(settings) ??
    createSecureContext({
      ...(ca !== undefined && { ca: ca === SYSTEM ? getCACertificates(SYSTEM) : ca.reveal() }),
      ...PARTIAL_CHAIN,
      ...(cert !== undefined && { cert: cert.reveal(), key: key?.reveal() }),
    })
  contexts.set(settings, made)
  return { secureContext: made }
}
