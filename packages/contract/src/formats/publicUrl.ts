import { withoutTrailing } from "./withoutTrailing.ts"

// Of every host of this package: browsers and Node.js.
declare const URL: { readonly parse: (text: string) => { readonly href: string } | null }

/** The form that {@link parsePublicUrl} accepts, for messages. */
export const PUBLIC_URL = "a URL that begins with http:// or https://, without user name, query or fragment"

/** The base of links, without a slash at its end. Shown to receivers, so never a credential. */
export const parsePublicUrl = (given: string): string | undefined => {
  const url = /^https?:\/\/[^\s@?#]+$/.test(given) ? URL.parse(given) : null
  return url === null ? undefined : withoutTrailing(url.href, "/")
}
