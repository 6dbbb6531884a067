import type {
  ExportCursor as Cursor,
  ExportParameters,
  NumberHour as Hour,
} from "@tocsin/contract/export/Export"
import type { Answer, Item, Query } from "./calls/endpoints.ts"

/** The rows of an export: of a kind, from a moment up to another, behind a cursor if it is given. */
export interface ExportSpan extends Readonly<(typeof ExportParameters)["Encoded"]> {}
/** The values of a series in one hour. */
export interface NumberHour extends Readonly<(typeof Hour)["Encoded"]> {}
/** A line between rows, from which an export goes on; the last one has `end`. */
export interface ExportCursor extends Readonly<(typeof Cursor)["Encoded"]> {}
/** A line of an export: a row of its kind, or a cursor. */
export type ExportLine = Item<"queryEvents"> | Item<"listHeldIncidents"> | NumberHour | ExportCursor

/** The span of a report, its checks, and the label by which they are grouped. */
export interface ReportParameters extends Query<"readReport"> {}

/** How checks were during a span: by groups, the worst, the incidents, and what was late. */
export interface Report extends Answer<"readReport"> {}
