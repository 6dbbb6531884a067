import { monthlyReports } from "./monthlyReports.ts"
import { Reports } from "./readReport.ts"

/** The part of reports in the core. */
export const report = { operations: Reports, delivers: monthlyReports }
