import { operatorsGroup, role } from "../api/operation.ts"
import { Report, ReportParameters } from "./Report.ts"

/** How checks were during a span (docs/rules.md#reports). */
export class ReportApi extends operatorsGroup(
  "report",
  role.read.get("readReport", "/report", { query: ReportParameters, success: Report }),
) {}
