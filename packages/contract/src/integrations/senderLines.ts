import { type Made, type SenderLine, integrationKind } from "./integrationKinds.ts"

/** Everything to paste into the senders of an integration that reach the server at an origin, the best first. */
export const senderLines = (made: Made, origin: string): ReadonlyArray<SenderLine> => {
  const { key, kind, urls } = made
  const addresses = urls.map((url) => (url.startsWith("/") ? `${origin}${url}` : url))
  const [first = ""] = addresses
  const { keyAt = "in the header Authorization", lines } = integrationKind(kind) ?? {}
  return [
    ...(lines?.(first, made) ?? []),
    ...addresses.map((address): SenderLine => [
      address.includes(key) ? "address" : `address, with the key ${keyAt}`,
      address,
    ]),
    ...(first.includes(key) ? [] : [["key", key] as const]),
  ]
}
