import { withoutTrailing } from "@tocsin/contract/withoutTrailing"

/** What {@link parsePublicUrl} takes, for messages. */
export const PUBLIC_URL = "a URL that begins with http:// or https://, without user name, query or fragment"

/** The base of links, without a slash at its end. Shown to receivers, so never a credential. */
export const parsePublicUrl = (given: string): string | undefined => {
  if (!/^https?:\/\/[^\s@?#]+$/.test(given) || !URL.canParse(given)) return undefined
  return withoutTrailing(new URL(given).href, "/")
}
