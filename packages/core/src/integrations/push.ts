import { checkIdOf, lastOutput, type Translate } from "./Report.ts"

const LONGEST_PING = 86_400_000
const MILLIS = /^\d+(?:\.\d+)?$/u

/** The push URL of Uptime Kuma: `CHECK?status=up|down&msg=…&ping=MS` (docs/rules.md#integrations). */
export const push: Translate = ({ path, query }, { check }, sha256) => {
  const named = path[0] === "api" && path[1] === "push" && path.length > 2 ? path.slice(2) : path
  const [name, ...rest] = check === undefined ? named : [check, ...named]
  if (name === undefined || name === "" || rest.length > 0)
    return { refused: "not_found", message: "Monitor not found or not active." }
  const ping = query["ping"] ?? ""
  if (ping !== "" && !(MILLIS.test(ping) && Number(ping) <= LONGEST_PING))
    return {
      refused: "invalid",
      message: `ping must be a number of milliseconds from 0 to ${LONGEST_PING}`,
    }
  const isUp = (query["status"] ?? "up") === "up"
  return {
    signal: "result",
    check_id: checkIdOf(name, sha256),
    rid: "",
    terms: {},
    status: isUp ? "ok" : "critical",
    exit_code: isUp ? 0 : 1,
    duration_ms: Math.round(Number(ping)),
    ...lastOutput(query["msg"] ?? ""),
  }
}
