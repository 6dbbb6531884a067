import { ALERT_OPTIONS, readAlerts, readJsonBody } from "./alerts.ts"
import { JSON_TEXT, type Kind, OF_MANY_CHECKS } from "./Kind.ts"
import { invalid, NOT_FOUND, type Translate } from "./Report.ts"

const PATH = "api/v2/alerts"

const readAlertmanager: Translate = ({ body, path }, context) => {
  if (path.join("/") !== PATH) return NOT_FOUND
  const read = readJsonBody(body)
  if ("refused" in read) return read
  if (!Array.isArray(read.json)) return invalid("the request body must be a list of alerts")
  return readAlerts(read.json, context, {
    isFiring: ({ ends_at }, now) => ends_at === undefined || ends_at > now,
    repeats: context.options.repeats ?? true,
  })
}

/** Alertmanager's API, version 2, to which Prometheus and others post (docs/rules.md#alerts). */
export const alertmanager: Kind = {
  ...OF_MANY_CHECKS,
  protocol: JSON_TEXT,
  translate: readAlertmanager,
  options: [...ALERT_OPTIONS, "resend", "lapse", "repeats", "watchdog"],
}
