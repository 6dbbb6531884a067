import { cleanOutput } from "@tocsin/contract/formats/outputText"
import { LONGEST, OPEN_FIELDS } from "@tocsin/contract/watches/watchOptions"
import type { ProbeSecrets } from "@tocsin/contract/watches/watchSecrets"

const SHORTEST = 4
const HIDDEN = "***"

const textsIn = (body: unknown): ReadonlyArray<string> => {
  if (typeof body === "string") return [body]
  if (typeof body !== "object" || body === null) return []
  return [JSON.stringify(body), ...Object.values(body).flatMap((one: unknown) => textsIn(one))]
}

const valuesOf = ({ auth, body, headers = {} }: ProbeSecrets): ReadonlyArray<string> => {
  const { basic, bearer = "" } = auth ?? {}
  const { password = "", user = "" } = basic ?? {}
  return [
    ...Object.entries(headers).flatMap(([name, value]) =>
      // A scheme and its credentials, such as `Bearer KEY`.
      OPEN_FIELDS.has(name.toLowerCase()) ? [] : [value, ...value.split(" ").slice(1)],
    ),
    bearer,
    user,
    password,
    ...(basic === undefined ? [] : [Buffer.from(`${user}:${password}`).toString("base64")]),
    ...textsIn(body),
  ]
}

const inSmallLetters = (encoded: string): string =>
  encoded.replaceAll(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase())

/** How an answer may repeat a text. */
const formsOf = (text: string): ReadonlyArray<string> => {
  const part = encodeURIComponent(text.toWellFormed())
  // As a part of an address, as a path, and as a field of a form.
  const encoded = [part, encodeURI(text.toWellFormed()), part.replaceAll("%20", "+")]
  return [
    text,
    ...encoded,
    ...encoded.map(inSmallLetters),
    JSON.stringify(text).slice(1, -1),
    // As results show it: in one line.
    text.replaceAll(/\s+/g, " "),
  ]
}

/** An output in which secrets are `***`, also one that is cut within a secret. */
export const withoutSecretTexts = (output: string, secrets: ProbeSecrets): string => {
  const forms = new Set(
    valuesOf(secrets)
      .filter((value) => value.length >= SHORTEST)
      .flatMap(formsOf),
  )
  const longestFirst = [...forms].toSorted((a, b) => b.length - a.length)
  return longestFirst.reduce((text, secret) => {
    const whole = text.replaceAll(secret, HIDDEN)
    const cut = whole.search(/…/)
    if (cut < 0) return whole
    const before = whole.slice(0, cut)
    for (let length = Math.min(secret.length - 1, before.length); length >= SHORTEST; length--)
      if (before.endsWith(secret.slice(0, length)))
        return before.slice(0, -length) + HIDDEN + whole.slice(cut)
    return whole
  }, output)
}

/** The output of a watch: without secrets, in one line, and cut afterwards, so that no part of one is left at its end. */
export const outputOfWatch = (output: string, secrets: ProbeSecrets = {}): string =>
  withoutSecretTexts(cleanOutput(output), secrets).slice(0, LONGEST.output).toWellFormed()
