import { plain } from "@tocsin/core/notifications/incidentText"
import type { Service } from "./Service.ts"

const COLOURS = {
  critical: "attention",
  warning: "warning",
  unknown: "warning",
  resolved: "good",
  test: "default",
} as const

/**
 * A Workflows address takes an Adaptive Card, whose text runs know no Markdown; at most 28 KB, which senders saw
 * counted in UTF-16 (learn.microsoft.com, "Create an Incoming Webhook").
 */
export const teams: Service = {
  limit: 6_000,
  escape: plain,
  hasLinks: true,
  request: ({ links, text, tone }) => {
    const [title = "", ...rest] = text.split("\n")
    const block = (line: string, style: object) => ({
      type: "RichTextBlock",
      inlines: [{ type: "TextRun", text: line, ...style }],
    })
    const body = [
      block(title, { weight: "bolder", color: COLOURS[tone] }),
      ...rest.map((line) => block(line, {})),
    ]
    const content = {
      $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
      type: "AdaptiveCard",
      version: "1.4",
      body,
      ...(links.length > 0 && {
        actions: links.map((link) => ({ type: "Action.OpenUrl", title: link.title, url: link.url })),
      }),
    }
    return {
      body: {
        type: "message",
        attachments: [{ contentType: "application/vnd.microsoft.card.adaptive", content }],
      },
    }
  },
}
