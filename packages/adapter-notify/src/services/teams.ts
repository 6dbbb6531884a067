import { plain } from "@tocsin/core/heart/notifications/cutText"
import type { Service } from "./Service.ts"

const COLORS = {
  critical: "attention",
  warning: "warning",
  unknown: "warning",
  resolved: "good",
  ended: "default",
  test: "default",
} as const

const textBlock = (line: string, style: object = {}) => ({
  type: "RichTextBlock",
  inlines: [{ type: "TextRun", text: line, ...style }],
})

/** The lines of a text, with a line across the card instead of a blank one. */
const blocksOf = (lines: ReadonlyArray<string>): ReadonlyArray<object> =>
  lines.flatMap((line, index) => {
    if (line === "") return []
    return lines[index - 1] === "" ? { ...textBlock(line), separator: true } : textBlock(line)
  })

/**
 * A Workflows address takes an Adaptive Card, whose text runs know no Markdown; at most 28 KB, which senders
 * saw counted in UTF-16 (learn.microsoft.com, "Create an Incoming Webhook" and "Microsoft Teams" connector,
 * November 2026).
 */
export const teams: Service = {
  limit: 6_000,
  escape: plain,
  hasTitle: true,
  hasLinks: true,
  // Each is a block, which costs as much as 50 characters.
  mostLines: 30,
  request: ({ links, text, tone }) => {
    const [title = "", ...rest] = text.split("\n")
    const content = {
      $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
      type: "AdaptiveCard",
      version: "1.4",
      body: [textBlock(title, { weight: "bolder", color: COLORS[tone] }), ...blocksOf(rest)],
      ...(links.length > 0 && {
        actions: links.map((link) => ({ type: "Action.OpenUrl", title: link.title, url: link.url })),
      }),
    }
    const attachment = { contentType: "application/vnd.microsoft.card.adaptive", content }
    return { body: { type: "message", attachments: [attachment] } }
  },
}
