import { type Signal, useSignal } from "@preact/signals"
import type { Watch, WatchTrial } from "@tocsin/client"
import { WATCH_ADDRESSES, watchOfAddress } from "@tocsin/contract/watchOfAddress"
import { segment } from "../api/request.ts"
import { listOf } from "../state/lists.ts"
import { call, mayAdminister, mayRespond } from "../state/session.ts"
import { ActionButton } from "../view/buttons.tsx"
import { type FormAct, type Options, refusal } from "../view/forms.tsx"
import { Mark, Time } from "../view/marks.tsx"
import { type Kind, NamedActions, NamedForm, NamedList } from "../view/Named.tsx"

/** Probes that the server repeats. */
const WATCHES: Kind<Watch> = {
  noun: "watch",
  creates: "Watch",
  path: "ops/v1/watches",
  warning: "Its check and its history go with it.",
}
const PERIODS = [["10s"], ["30s"], ["1m"], ["5m"], ["1h"]] as const

/** The choices of a field whose value may be another one than these. */
const withOption = (options: Options, value: string): Options =>
  options.some(([each]) => each === value) ? options : [...options, [value]]

const hostText = (host: string): string => (host.includes(":") ? `[${host}]` : host)

/** The address of a watch, as people write it. */
const addressOf = ({ dns, http, tcp, tls }: Watch): string => {
  if (http !== undefined) return http.url
  if (tcp !== undefined) return `tcp://${hostText(tcp.host)}:${tcp.port}`
  if (tls !== undefined) return `tls://${hostText(tls.host)}${tls.port === undefined ? "" : `:${tls.port}`}`
  return `dns:${dns?.name ?? ""}`
}

/** The watch that an address states. */
const watchOf = (address = "") => {
  const watch = watchOfAddress(address)
  if (watch === undefined) throw refusal(`Write ${WATCH_ADDRESSES}.`)
  return watch
}

interface Changed {
  readonly changed: Signal<Watch | undefined>
}

const WatchForm = ({ changed }: Changed) => {
  const trial = useSignal<WatchTrial | undefined>(undefined)
  const former = changed.value
  const before = former === undefined ? "" : addressOf(former)
  const attempt: FormAct[1] = async ({ address }) => {
    trial.value = undefined
    trial.value = await call<WatchTrial>("POST", `${WATCHES.path}/try`, { body: watchOf(address).probe })
    return undefined
  }
  const { every = "1m", confirm } = former ?? {}
  return (
    <>
      <NamedForm
        kind={WATCHES}
        changed={changed}
        acts={[["Try", attempt]]}
        fields={{
          address: { label: "Address", initial: before, example: "https://example.org/" },
          ...(former === undefined && {
            name: { label: "Name", example: ({ address = "" }) => watchOfAddress(address)?.name },
          }),
          every: { label: "Every", options: withOption(PERIODS, every), initial: every },
          bad: {
            label: "Failures that count",
            type: "number",
            min: 1,
            max: 10,
            initial: `${confirm?.bad ?? 2}`,
          },
        }}
        bodyOf={({ address = "", bad, ...times }) => {
          const settings = { ...times, confirm: { good: confirm?.good ?? 1, bad: Number(bad) } }
          // A new probe takes the place of the former one, with its options and header fields.
          if (address === before) return settings
          const { name, probe } = watchOf(address)
          return { ...settings, ...probe, ...(former === undefined && { name }) }
        }}
      />
      {trial.value !== undefined && (
        <p role="status">
          <Mark state={trial.value.status} /> {trial.value.output}
        </p>
      )}
    </>
  )
}

const Pause = ({ is_paused, name }: Pick<Watch, "is_paused" | "name">) => (
  <ActionButton
    describes={`${is_paused ? "Resume" : "Pause"} ${name}`}
    does={async () => {
      const body = { for: is_paused ? "0s" : "8h" }
      await call("POST", `${WATCHES.path}/${segment(name)}/pause`, { body })
      return { text: is_paused ? `Resumed ${name}` : `Paused ${name} for 8 h` }
    }}
  >
    {is_paused ? "Resume" : "Pause 8 h"}
  </ActionButton>
)

const drawTimes = ({ every, last }: Watch) => (
  <>
    every {every}
    {last !== null && (
      <>
        , probed <Time at={last.at} />
      </>
    )}
  </>
)

/** Each watch with its last result. */
const WatchList = ({ changed }: Changed) => (
  <NamedList<Watch>
    label="Watches"
    list={listOf<Watch>(WATCHES.path, {})}
    heads={["Name", "State", "Probes", ""]}
    empty={["Nothing is watched yet", "The server itself probes pages and ports."]}
  >
    {(watch) => ({
      subject: watch.last === null ? "not probed yet" : watch.last.output,
      label: <Mark state={watch.status ?? "pending"} word={watch.status ?? "waiting"} />,
      note: watch.is_paused && "paused",
      when: drawTimes(watch),
      actions: (
        <>
          {mayRespond.value && <Pause name={watch.name} is_paused={watch.is_paused} />}
          {!watch.is_of_policy && <NamedActions kind={WATCHES} item={watch} changed={changed} />}
        </>
      ),
    })}
  </NamedList>
)

/** The watches, which can be made and changed. */
export const WatchTable = () => {
  const changed = useSignal<Watch | undefined>(undefined)
  return (
    <>
      {mayAdminister.value && <WatchForm changed={changed} />}
      <WatchList changed={changed} />
    </>
  )
}

export const Watches = () => (
  <>
    <h1>Watches</h1>
    <WatchTable />
  </>
)
