import { cutText, plain } from "@tocsin/core/heart/notifications/cutText"
import type { NamedLink } from "@tocsin/core/heart/notifications/incidentText"
import { type Service, titled } from "./Service.ts"

const LOOKS = {
  critical: { priority: 5, tags: ["rotating_light"] },
  warning: { priority: 4, tags: ["warning"] },
  unknown: { priority: 4, tags: ["question"] },
  resolved: { priority: 3, tags: ["white_check_mark"] },
  ended: { priority: 3, tags: ["grey_exclamation"] },
  test: { priority: 3, tags: [] },
} as const

/** More is refused: at most 1 KB of UTF-8, of which a character has at most 3 bytes, or 4 for two. */
const TITLE = { limit: 340, escape: plain }

/** The buttons below a message: that which acts needs no browser. */
const actionOf = ({ acts, title: label, url }: NamedLink) =>
  acts ? { action: "http", label, url, method: "POST", clear: true } : { action: "view", label, url }

/**
 * A topic, published as JSON to the server's root; at most 4,096 bytes (docs.ntfy.sh, "Limitations", November
 * 2026), and 1 KB of title (github.com/binwiederhier/ntfy, release 2.28.0 of August 2026).
 */
export const ntfy: Service = {
  limit: 1_300,
  escape: plain,
  hasTitle: true,
  hasLinks: true,
  request: ({ links, text, tone }, { definition: { call }, path, token }) => {
    const slash = path.lastIndexOf("/")
    const { message, title } = titled(text)
    const request = {
      path: `${path.slice(0, slash)}/`,
      ...(token !== "" && { headers: { authorization: `Bearer ${token}` } }),
      body: {
        topic: path.slice(slash + 1),
        title: cutText(title, TITLE),
        message,
        ...LOOKS[tone],
        ...(links[0] && { click: links[0].url, actions: links.map(actionOf) }),
      },
    }
    if (call === undefined || (tone !== "critical" && tone !== "test")) return request
    const calling = { ...request, body: { ...request.body, call } }
    // A number that is not verified, or a spent quota, takes the call and not the message.
    return tone === "test" ? calling : { ...calling, otherwise: request }
  },
}
