import { useSignal } from "@preact/signals"
import type { Watch, WatchTrial } from "@tocsin/client"
import { headlineOf } from "@tocsin/contract/headline"
import { WATCH_ADDRESSES, watchOfAddress, type WatchOfAddress } from "@tocsin/contract/watchOfAddress"
import { segment } from "../api/request.ts"
import { call, carryOut, mayRespond } from "../state/session.ts"
import { ActionButton, type FormAct, type Options, refusal } from "../view/forms.tsx"
import { Mark, TimeAfter } from "../view/states.tsx"
import { type Kind, NamedTable } from "../view/Named.tsx"

const PATH = "ops/v1/watches"
const PERIODS = [["10s"], ["30s"], ["1m"], ["5m"], ["1h"]] as const

/** The choices of a field whose value may be another one than these. */
const withOption = (options: Options, value: string): Options =>
  options.some(([each]) => each === value) ? options : [...options, [value]]

const hostText = (host: string): string => (host.includes(":") ? `[${host}]` : host)

const addressOf = ({ dns, http, tcp, tls }: Watch): string => {
  if (http !== undefined) return http.url
  if (tcp !== undefined) return `tcp://${hostText(tcp.host)}:${tcp.port}`
  if (tls !== undefined) return `tls://${hostText(tls.host)}${tls.port === undefined ? "" : `:${tls.port}`}`
  return `dns:${dns?.name ?? ""}`
}

const watchOf = (address = "") => {
  const watch = watchOfAddress(address)
  if (watch === undefined) throw refusal(`Write ${WATCH_ADDRESSES}.`)
  return watch
}

/** The probe of an address, with the options of the former one; header fields are secrets, which no answer shows. */
const probeOf = (probe: WatchOfAddress["probe"], { dns, http, tcp, tls }: Watch) => {
  if ("http" in probe) return { http: { ...http, ...probe.http } }
  if ("tcp" in probe) return { tcp: { ...tcp, ...probe.tcp } }
  if ("tls" in probe) return { tls: { ...tls, port: undefined, ...probe.tls } }
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

const WATCHES: Kind<Watch> = {
  noun: "watch",
  title: "Watches",
  path: PATH,
  size: "watch",
  empty: ["No page is watched yet", "The server itself probes pages and ports."],
  subjectOf: ({ last }) => (last === null ? "not probed yet" : headlineOf(last.output)),
  label: ["State", ({ status }) => <Mark state={status ?? "pending"} word={status ?? "waiting"} />],
  when: ["Probes", drawTimes],
  noteOf: ({ is_paused }) => is_paused && "paused",
  actionsOf: (watch) => mayRespond.value && <Pause {...watch} />,
  creates: "Watch",
  fieldsOf: (former) => ({
    address: {
      label: former?.http === undefined ? "Address" : "Address: another one is sent no header fields",
      initial: former === undefined ? "" : addressOf(former),
      example: "https://example.org/",
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
      label: "Failures that count",
      type: "number",
      min: 1,
      max: 10,
      initial: `${former?.confirm.bad ?? 2}`,
    },
  }),
  bodyOf: ({ address = "", bad, ...times }, former) => {
    const settings = { ...times, confirm: { good: former?.confirm.good ?? 1, bad: Number(bad) } }
    if (former !== undefined && address === addressOf(former)) return settings
    const { name, probe } = watchOf(address)
    return former === undefined ? { ...settings, ...probe, name } : { ...settings, ...probeOf(probe, former) }
  },
  isFixed: ({ is_of_policy }) => is_of_policy,
  warning: "Its check and its history go with it.",
}

/** The watches, and the result of a trial of what the form says. */
export const WatchTable = () => {
  const trial = useSignal<WatchTrial | undefined>(undefined)
  const attempt: FormAct[1] = async ({ address }) => {
    trial.value = undefined
    trial.value = await call<WatchTrial>("POST", `${PATH}/try`, { body: watchOf(address).probe })
    return undefined
  }
  return (
    <NamedTable of={WATCHES} acts={[["Try", attempt]]}>
      {trial.value !== undefined && (
        <p role="status">
          <Mark state={trial.value.status} /> {trial.value.output}
        </p>
      )}
    </NamedTable>
  )
}

export const Watches = () => (
  <>
    <h1>Watches</h1>
    <WatchTable />
  </>
)
