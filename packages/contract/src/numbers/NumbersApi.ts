import { NotFound } from "../api/ApiErrors.ts"
import { operatorsGroup, role } from "../api/operation.ts"
import { CheckPathParameters } from "../v1/Parameters.ts"
import { NumbersAnswer, NumbersParameters, SeriesOfCheck } from "./Numbers.ts"

const error = NotFound.wire

/** Numbers of checks over time (docs/rules.md#numbers). */
export class NumbersApi extends operatorsGroup(
  "numbers",
  role.read.get("listSeries", "/checks/:agent_id/:check_id/numbers", {
    params: CheckPathParameters,
    success: SeriesOfCheck,
    error,
  }),
  role.read.get("readNumbers", "/numbers", { query: NumbersParameters, success: NumbersAnswer, error }),
) {}
