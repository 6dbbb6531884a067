import { useSignal } from "@preact/signals"
import type { Watch, WatchTrial } from "@tocsin/client"
import { headlineOf } from "@tocsin/contract/headline"
import {
  addressOfWatch,
  WATCH_ADDRESSES,
  watchOfAddress,
  type WatchOfAddress,
} from "@tocsin/contract/watchOfAddress"
import { segment } from "../api/request.ts"
import { linkTo } from "../state/Route.ts"
import { call, carryOut, mayAdminister, mayRespond } from "../state/session.ts"
import type { FormField, Options, Texts } from "../view/FormField.ts"
import { ActionButton, type FormAct, QuietButton, refusal } from "../view/forms.tsx"
import { Mark, TimeAfter } from "../view/states.tsx"
import { StatusStrip, StripReader } from "../view/StatusStrip.tsx"
import { type Kind, NamedForm, NamedTable } from "../view/Named.tsx"
import { useRead } from "../view/usePages.ts"

const PATH = "ops/v1/watches"
/** The agent that has the results of watches. */
export const WATCHER = "watches"
const PERIODS = [["10s"], ["30s"], ["1m"], ["5m"], ["1h"]] as const

/** The choices of a field whose value may be another one than these. */
const withOption = (options: Options, value: string): Options =>
  options.some(([each]) => each === value) ? options : [...options, [value]]

const watchOf = (address = "") => {
  const watch = watchOfAddress(address)
  if (watch === undefined) throw refusal(`Write ${WATCH_ADDRESSES}.`)
  return watch
}

/** Results that do not count yet. */
const unconfirmedText = ({ confirm, last, unconfirmed }: Watch): string =>
  unconfirmed === 0
    ? ""
    : `${unconfirmed} of ${last?.status === "ok" ? `${confirm.good} successes` : `${confirm.bad} failures`}`

/** The options of a probe in the form, beside its address. */
const OPTIONS = ["text", "statuses", "warning", "critical", "headers"] as const
const textsOf = ({ http, tls }: Watch): Texts => {
  const days = http?.days ?? tls?.days
  return {
    text: http?.text ?? "",
    statuses: http?.status?.join(", ") ?? "",
    warning: `${days?.warning ?? ""}`,
    critical: `${days?.critical ?? ""}`,
  }
}

const numbersIn = (text = ""): ReadonlyArray<number> | undefined =>
  text === "" ? undefined : text.split(/[,\s]+/).map(Number)

const headersIn = (text = "") => {
  if (text === "") return undefined
  const lines = text.split("\n").map((line) => /^([^:\s]+):\s*(.+)$/.exec(line.trim()))
  if (lines.includes(null)) throw refusal("Write each header field in a line: authorization: Bearer KEY")
  return Object.fromEntries(lines.map((line) => [line?.[1] ?? "", line?.[2] ?? ""]))
}

/**
 * The probe of an address, with the options of the form, and those of the former one that the form lacks;
 * header fields are secrets, which no answer shows.
 */
const probeOf = (
  probe: WatchOfAddress["probe"],
  texts: Texts,
  { dns, http, tcp, tls }: Partial<Watch> = {},
) => {
  const { critical, headers, statuses, text = "", warning } = texts
  const [warnedAt, criticalAt] = [numbersIn(warning)?.[0], numbersIn(critical)?.[0]]
  const days =
    warnedAt === undefined && criticalAt === undefined
      ? undefined
      : { warning: warnedAt, critical: criticalAt }
  const ofPage = { text: text || undefined, status: numbersIn(statuses), headers: headersIn(headers) }
  if ("http" in probe) return { http: { ...http, ...ofPage, days, ...probe.http } }
  if (Object.values(ofPage).some((given) => given !== undefined))
    throw refusal("Only a page has a text, statuses and header fields.")
  if ("tls" in probe) return { tls: { ...tls, port: undefined, days, ...probe.tls } }
  if (days !== undefined) throw refusal("Only pages and tls:// addresses have a certificate.")
  if ("tcp" in probe) return { tcp: { ...tcp, ...probe.tcp } }
  return { dns: { ...dns, ...probe.dns } }
}

const Pause = ({ is_paused, name }: Pick<Watch, "is_paused" | "name">) => (
  <ActionButton
    describes={`${is_paused ? "Resume" : "Pause"} ${name}`}
    does={() => {
      const [done, span] = is_paused ? [`Resumed ${name}`, "0s"] : [`Paused ${name} for 8 h`, "8h"]
      return carryOut(done, "POST", `${PATH}/${segment(name)}/pause`, { body: { for: span } })
    }}
  >
    {is_paused ? "Resume" : "Pause 8 h"}
  </ActionButton>
)

const drawTimes = ({ every, last }: Watch) => (
  <>
    every {every}
    <TimeAfter text=", probed " at={last?.at} />
  </>
)

const rareFields = (former: Watch | undefined): Readonly<Record<string, FormField>> => {
  const days = { type: "number", min: 1, max: 3_650 } as const
  const again = former?.http === undefined ? "" : ": write them again with each change above"
  const fields: Readonly<Record<(typeof OPTIONS)[number], FormField>> = {
    text: { label: "The page must contain" },
    statuses: { label: "Statuses that are ok", example: "200 to 299" },
    warning: { label: "Certificate: warning days", ...days },
    critical: { label: "Critical days", ...days },
    headers: { label: `Header fields${again}`, hasLines: true, example: "authorization: Bearer KEY" },
  }
  const before: Texts = former === undefined ? {} : textsOf(former)
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      { ...field, isRare: true, initial: before[name] ?? "" },
    ]),
  )
}

const WATCHES: Kind<Watch> = {
  noun: "watch",
  title: "Watches",
  path: PATH,
  size: "watch",
  empty: ["No page is watched yet", "The server itself probes pages and ports."],
  subjectOf: ({ last }) => (last === null ? "not probed yet" : headlineOf(last.output)),
  linkOf: ({ name }) => linkTo("checks", [WATCHER, name]),
  label: [
    "State",
    (watch) => (
      <Mark
        state={watch.status ?? "pending"}
        word={watch.status ?? (unconfirmedText(watch) || "not probed")}
      />
    ),
  ],
  when: ["Probes", drawTimes],
  noteOf: (watch) => (watch.is_paused ? "paused" : watch.status !== null && unconfirmedText(watch)),
  stripOf: ({ name }) => <StatusStrip agent_id={WATCHER} check_id={name} />,
  actionsOf: (watch) => mayRespond.value && <Pause {...watch} />,
  creates: "Watch",
  fieldsOf: (former) => ({
    address: {
      label: "Address",
      initial: former === undefined ? "" : addressOfWatch(former),
      example: "https://example.org/",
      refusedAs: /(?:http\.url|tcp\.host|tls\.host)\b/,
    },
    ...(former === undefined && {
      name: { label: "Name", example: ({ address = "" }) => watchOfAddress(address)?.name },
    }),
    every: {
      label: "Every",
      options: withOption(PERIODS, former?.every ?? "1m"),
      initial: former?.every ?? "1m",
    },
    bad: {
      label: "Failures in a row",
      type: "number",
      min: 1,
      max: 10,
      initial: `${former?.confirm.bad ?? 2}`,
    },
    ...rareFields(former),
  }),
  bodyOf: ({ address = "", bad, every, ...texts }, former) => {
    const settings = { every, confirm: { good: former?.confirm.good ?? 1, bad: Number(bad) } }
    const before = former && textsOf(former)
    const isSame = OPTIONS.every((option) => (texts[option] ?? "") === (before?.[option] ?? ""))
    if (former !== undefined && isSame && address === addressOfWatch(former)) return settings
    const { name, probe } = watchOf(address)
    return { ...settings, ...probeOf(probe, texts, former), ...(former === undefined && { name }) }
  },
  isFixed: ({ is_of_policy }) => is_of_policy,
  warning: "Its check and its history go with it.",
}

/** Acts on the watch that a check has its results from, beside these. */
export const WatchActions = ({ name }: Pick<Watch, "name">) => {
  const changed = useSignal<Watch | undefined>(undefined)
  const shown = useSignal<undefined>(undefined)
  const { value: watch } = useRead<Watch>(`${PATH}/${segment(name)}`)
  if (watch === undefined) return null
  return (
    <>
      <p class="facts">
        <code>{addressOfWatch(watch)}</code>, {drawTimes(watch)}
      </p>
      <div class="actions">
        <Pause {...watch} />
        {mayAdminister.value && !watch.is_of_policy && (
          <QuietButton describes={`Change the watch ${name}`} does={() => (changed.value = watch)}>
            Change
          </QuietButton>
        )}
      </div>
      {changed.value !== undefined && <NamedForm of={WATCHES} changed={changed} shown={shown} />}
    </>
  )
}

/** The watches, and the result of a trial of what the form says. */
export const Watches = () => {
  const trial = useSignal<WatchTrial | undefined>(undefined)
  const attempt: FormAct[1] = async ({ address, ...texts }) => {
    trial.value = undefined
    trial.value = await call<WatchTrial>("POST", `${PATH}/try`, {
      body: probeOf(watchOf(address).probe, texts),
    })
    return undefined
  }
  return (
    <NamedTable of={WATCHES} acts={[["Try", attempt]]} onSave={() => (trial.value = undefined)}>
      <StripReader />
      {trial.value !== undefined && (
        <p role="status">
          <Mark state={trial.value.status} /> {trial.value.output}
        </p>
      )}
    </NamedTable>
  )
}
