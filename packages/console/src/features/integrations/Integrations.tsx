import type { Integration, IntegrationWithKey } from "@tocsin/client"
import { parseCron } from "@tocsin/contract/formats/CronTimes"
import { idOfTitle } from "@tocsin/contract/titles/idOfTitle"
import { isNearlyFull } from "@tocsin/contract/integrations/isNearlyFull"
import { INTEGRATION_KINDS, integrationKind } from "@tocsin/contract/integrations/integrationKinds"
import { senderLines } from "@tocsin/contract/integrations/senderLines"
import { graceProblem, nextText } from "../../format/nextText.ts"
import { numberText, ZONES } from "../../format/times.ts"
import { now } from "../../state/clock.ts"
import { listOf } from "../../state/lists.ts"
import { linkTo } from "../../state/Route.ts"
import { mayAdminister } from "../../state/session.ts"
import type { Texts } from "../../view/FormField.ts"
import { refusal } from "../../view/formFault.ts"
import { Form } from "../../view/forms.tsx"
import { keptSecret, ShownOnce, Time } from "../../view/states.tsx"
import { LONGEST_TITLE } from "../../view/titles.tsx"
import { MailsButton } from "./MailsButton.tsx"
import { createNamed, lastText, NamedTable } from "../../view/Named.tsx"
import type { Kind } from "../../view/NamedKind.ts"

/** The protocols, as people know them. */
const KINDS = Object.entries(INTEGRATION_KINDS).map(
  ([kind, { senders }]) => [kind, `${kind}: ${senders}`] as const,
)

/** The texts to paste into the senders of an integration, which reach the server as this page does. */
export const textsOf = (made: IntegrationWithKey): ReadonlyArray<string> =>
  senderLines(made, globalThis.location.origin).map(([, text]) => text)

const optionsIn = (text: string): unknown => {
  try {
    return text === "" ? {} : JSON.parse(text)
  } catch {
    throw refusal("The options must be a JSON object.")
  }
}

/** All but the one by which the service reports its own watches. */
const listSenders = (limit?: number) => {
  const all = listOf<Integration>("ops/v1/integrations", {}, limit)
  const read = async (cursor: string | undefined) => {
    const page = await all.read(cursor)
    return { ...page, items: page.items.filter(({ kind }) => kind !== "watch") }
  }
  return { ...all, read }
}

/** How often a job runs, and when it is late, as its options say it. */
const scheduleText = (schedule: unknown): string => {
  const terms = new URLSearchParams(typeof schedule === "string" ? schedule : "")
  const [after, cron, every, grace, tz] = ["after", "cron", "every", "grace", "tz"].map((name) =>
    terms.get(name),
  )
  if (cron) return `runs at ${cron} ${tz ?? ""}, late ${grace ?? "1h"} after each`
  return every ? `runs every ${every}${after ? `, late after ${after} without a report` : ""}` : ""
}

const subjectOf = ({ awaited_watchdog, created_by, last_refusal: refused, options }: Integration) => (
  <>
    {[scheduleText(Reflect.get(options, "schedule")), `by ${created_by}`].filter(Boolean).join(", ")}
    {awaited_watchdog !== null && `, waits for the first ${awaited_watchdog}: it is missed from then on`}
    {refused !== null && (
      <>
        , refused <Time at={refused.at} />: {refused.message}
      </>
    )}
  </>
)

export const INTEGRATIONS: Kind<Integration, IntegrationWithKey> = {
  noun: "integration",
  title: "Integrations",
  path: "ops/v1/integrations",
  list: listSenders,
  empty: ["No integrations yet", "Cron jobs and other monitors report through one."],
  subjectOf,
  label: ["Kind", ({ kind }) => <em class="is-taken">{kind}</em>, ({ kind }) => kind],
  when: [
    "Last report",
    ({ last_request_at, name, overdue }) => (
      <>
        {lastText("reported", last_request_at, "no report yet")}
        {overdue > 0 && (
          <>
            ,{" "}
            <a href={linkTo("checks", [], { state: "late", filter: `${name}/` })}>
              {numberText(overdue)} late
            </a>
          </>
        )}
      </>
    ),
    ({ last_request_at: at }) => at,
  ],
  noteOf: ({ checks, is_closed, max_checks }) =>
    is_closed
      ? "key blocked"
      : isNearlyFull({ checks, max_checks }) && `${numberText(checks)} of ${numberText(max_checks)} checks`,
  actionsOf: (item) => item.kind === "mail" && <MailsButton of={item} />,
  creates: "Create integration",
  idOf: ({ kind = "", title = "" }) => (title === "" ? undefined : idOfTitle(title, kind)),
  fieldsOf: (former) => ({
    ...(former === undefined && { kind: { label: "Kind", options: KINDS, initial: "ping" } }),
    options: {
      label: "Options (JSON)",
      isWide: true,
      initial: former === undefined ? "" : JSON.stringify(former.options),
      example: ({ kind = "" }) => integrationKind(kind)?.options,
      ...(Object.hasOwn(former?.options ?? {}, "schedule") && {
        hint: "The job's line states its schedule, too: change it there as well.",
      }),
    },
  }),
  bodyOf: ({ options = "", ...given }) => ({ ...given, options: optionsIn(options) }),
  warning: "Its checks and their history go with it.",
  replaces: ["New key", "Replaced the key"],
  secretOf: (made) => ({ title: `Lines to paste for ${made.name}`, texts: textsOf(made) }),
}

/** How often a job runs, as its address says it: with a margin after which it is late. */
const SCHEDULES = [
  ["every=1h&after=3h", "every hour"],
  ["every=1d&after=26h", "every day"],
  ["every=7d&after=8d", "every week"],
  ["cron", "at the times of its line in the crontab"],
] as const
const hasTimes = ({ schedule }: Texts): boolean => schedule === "cron"

const USUAL_GRACE = "1h"

/** The query that declares the times. A crontab reads a percent sign as the end of a line. */
const queryOf = ({ cron = "", grace = "", tz = "" }: Texts): string => {
  const times = parseCron(cron)
  if ("message" in times) throw refusal(`The times ${times.message}.`)
  const problem = graceProblem(grace)
  if (problem !== undefined) throw refusal(problem)
  return `cron=${cron.split(/\s+/).join("+")}&tz=${tz}${grace === USUAL_GRACE ? "" : `&grace=${grace}`}`
}

const idOfJob = (title: string): string => idOfTitle(title, "ping")

const linesOfJob = keptSecret()

/** Declares a job of a crontab: how often it runs, and the line that reports it. */
export const Job = () => {
  const add = async ({ title = "", ...texts }: Texts) => {
    const schedule = hasTimes(texts) ? queryOf(texts) : texts["schedule"]
    const secretOf = (made: IntegrationWithKey) => ({
      title: `Append this to the line of ${made.name} in the crontab`,
      texts: textsOf(made).slice(0, 1),
    })
    const body = { title, kind: "ping", options: { check: idOfJob(title), schedule } }
    return createNamed({ ...INTEGRATIONS, secretOf }, body, linesOfJob)
  }
  return (
    <>
      <Form
        fields={{
          title: {
            label: "Title",
            example: "Nightly backup",
            maxLength: LONGEST_TITLE,
            hint: ({ title = "" }) => (title === "" ? "" : `ID: ${idOfJob(title)}`),
          },
          schedule: {
            label: "Runs",
            options: SCHEDULES,
            initial: SCHEDULES[1][0],
            hint: ({ schedule }) => scheduleText(schedule),
          },
          cron: {
            label: "Times",
            initial: "0 3 * * *",
            isAsked: hasTimes,
            refusedAs: /^The times/,
            hint: (texts) => nextText(texts, now.peek()),
          },
          // That of the browser is often not the zone of a crontab's machine.
          tz: {
            label: "Time zone",
            options: [["", "choose"], ...ZONES],
            isAsked: hasTimes,
            isNeeded: hasTimes,
          },
          grace: {
            label: "Grace",
            initial: USUAL_GRACE,
            isAsked: hasTimes,
            refusedAs: /^Grace/,
          },
        }}
        acts={[["Add a job", add, "main"]]}
      />
      <ShownOnce of={linesOfJob} />
      <p class="lead">
        Run the new line once: from then on, a run that is late or missing opens an incident, whose severity
        is <i>critical</i>.
      </p>
    </>
  )
}

export const Integrations = () => (
  <>
    {mayAdminister.value && (
      <>
        <h2>A cron job</h2>
        <Job />
        <h2>Other senders</h2>
      </>
    )}
    <NamedTable of={INTEGRATIONS}>
      <p class="lead">
        Senders report by requesting an address, without an agent. Each check appears with its first report.
        If it says how often it comes, it is expected from then on.
      </p>
    </NamedTable>
  </>
)
