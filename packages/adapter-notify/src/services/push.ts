import { cutText, type NamedLink, plain } from "@tocsin/core/notifications/incidentText"
import type { Service } from "./Service.ts"

/** The first line of a text as its title. */
const titled = (text: string) => {
  const [title = "", ...rest] = text.split("\n")
  return { title, message: rest.join("\n") || title }
}

const NTFY = {
  critical: { priority: 5, tags: ["rotating_light"] },
  warning: { priority: 4, tags: ["warning"] },
  unknown: { priority: 4, tags: ["question"] },
  resolved: { priority: 3, tags: ["white_check_mark"] },
  test: { priority: 3, tags: [] },
}

/** More is refused: at most 1 KB of UTF-8, of which a character has at most 3 bytes, or 4 for two. */
const NTFY_TITLE = { limit: 340, escape: plain }

/** The buttons below a message: that which acts needs no browser. */
const actionOf = ({ acts, title: label, url }: NamedLink) =>
  acts ? { action: "http", label, url, method: "POST", clear: true } : { action: "view", label, url }

/**
 * A topic, published as JSON to the server's root; at most 4,096 bytes (docs.ntfy.sh, "Limitations"), and 1 KB
 * of title (github.com/binwiederhier/ntfy, release 2.28.0 of August 2026).
 */
export const ntfy: Service = {
  limit: 1_300,
  escape: plain,
  hasLinks: true,
  request: ({ links, text, tone }, { path, token }) => {
    const slash = path.lastIndexOf("/")
    const { message, title } = titled(text)
    return {
      path: `${path.slice(0, slash)}/`,
      ...(token !== "" && { headers: { authorization: `Bearer ${token}` } }),
      body: {
        topic: path.slice(slash + 1),
        title: cutText(title, NTFY_TITLE),
        message,
        ...NTFY[tone],
        ...(links[0] && { click: links[0].url, actions: links.map(actionOf) }),
      },
    }
  },
}

const URGENT = { critical: 8, warning: 5, unknown: 5, resolved: 2, test: 5 }

/** A message of an application, as plain text; it has no limit (github.com/gotify/server, `api/message.go`, July 2026). */
export const gotify: Service = {
  limit: 8_000,
  escape: plain,
  request: ({ text, tone }, { path, token }) => ({
    path: `${path}/message`,
    headers: { "x-gotify-key": token },
    body: { ...titled(text), priority: URGENT[tone] },
  }),
}

/** A message of 1,024 characters, without HTML (pushover.net/api). */
export const pushover: Service = {
  address: "https://api.pushover.net",
  limit: 1_024,
  escape: plain,
  request: ({ text, tone }, { path, token, user }) => ({
    path: `${path}/1/messages.json`,
    type: "application/x-www-form-urlencoded",
    body: new URLSearchParams({
      token,
      user,
      message: text,
      priority: tone === "critical" ? "1" : "0",
    }).toString(),
  }),
}
