import type { Answer, Query } from "./calls/endpoints.ts"

/** The span of a report, its checks, and the label by which they are grouped. */
export interface ReportParameters extends Query<"readReport"> {}

/** How checks were during a span: by groups, the worst, the incidents, and what was late. */
export interface Report extends Answer<"readReport"> {}
