import { example, type Operations } from "../../documents/examples.ts"
import type { HttpPart } from "../../HttpPart.ts"
import { exported as handlers } from "./ExportHandlers.ts"

const exported: Operations = {
  exportRows: {
    summary: "Export rows of a span",
    description:
      "Writes stored changes, incidents or hours of numbers as JSON, one object a line, as fast as it is read. After each 1,000 rows comes a line with a cursor, and last a line with a cursor and end. With a cursor, the same kind and span, an export goes on behind it. A server answers two at a time.",
    parameters: { kind: "numbers", from: "2026-01-31T08:00:00.000Z", to: "2026-01-31T09:00:00.000Z" },
    success: example(
      "usual",
      "An hour of one series",
      `{"agent_id":"web-01","check_id":"disk","name":"used","unit":"%","at":"2026-01-31T08:00:00.000Z","count":60,"min":88,"max":91,"mean":89.5,"last":91}\n{"cursor":"WyIzZjE2…","end":true}\n`,
    ),
  },
}

export const exporting = {
  tags: [["Export", "Rows for other systems.", exported]],
  handlers,
} satisfies HttpPart
