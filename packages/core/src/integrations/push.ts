import { checkIdOf, type Kind, lastOutput, NOTHING_EXPECTED, readingOf, type Translate } from "./Report.ts"

const LONGEST_PING = 86_400_000
const MILLIS = /^\d+(?:\.\d+)?$/u

const translate: Translate = ({ path, query }, { options: { check }, sha256 }) => {
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
  return readingOf({
    signal: "result",
    check_id: checkIdOf(name, sha256),
    rid: "",
    expects: NOTHING_EXPECTED,
    status: isUp ? "ok" : "critical",
    exit_code: isUp ? 0 : 1,
    duration_ms: Math.round(Number(ping)),
    ...lastOutput(query["msg"] ?? ""),
  })
}

/** The push URL of Uptime Kuma: `CHECK?status=up|down&msg=…&ping=MS` (docs/rules.md#integrations). */
export const push: Kind = {
  translate,
  isLimited: true,
  hasRuns: false,
  mostChecks: 1_000,
  options: ["check", "methods"],
  paths: (key, { check }) => [`/${key}${check === undefined ? "/CHECK" : ""}?status=up&msg=OK&ping=`],
}
