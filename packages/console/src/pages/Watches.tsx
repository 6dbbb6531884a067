import { useSignal } from "@preact/signals"
import type { Watch, WatchTrial } from "@tocsin/client"
import { WATCH_ADDRESSES, watchOfAddress } from "@tocsin/contract/watchOfAddress"
import { segment } from "../api/request.ts"
import { call, mayAdminister, mayRespond } from "../state/session.ts"
import { ActionButton } from "../view/buttons.tsx"
import { ChoiceField, Fault, RemoveButton, sent, TextField } from "../view/creation.tsx"
import { Time } from "../view/marks.tsx"
import { NamedList } from "../view/NamedList.tsx"

const PATH = "ops/v1/watches"
const PERIODS = [["10s"], ["30s"], ["1m"], ["5m"], ["1h"]] as const

/** Makes a watch of an address. */
export const WatchForm = () => {
  const address = useSignal("")
  const every = useSignal("1m")
  const fault = useSignal("")
  const trial = useSignal("")
  /** The watch of the address, whose fault is shown if it is none. */
  const read = () => {
    trial.value = ""
    const watch = watchOfAddress(address.value.trim())
    fault.value = watch === undefined ? `Write ${WATCH_ADDRESSES}.` : ""
    return watch
  }
  return (
    <>
      <div class="form-row">
        <TextField label="Address" value={address} placeholder="https://example.org/" />
        <ChoiceField label="Every" value={every} options={PERIODS} />
        <ActionButton
          does={async () => {
            const watch = read()
            if (watch === undefined) return undefined
            const result = await sent<WatchTrial>("POST", `${PATH}/try`, watch.probe, fault)
            if (result !== undefined) trial.value = result.output
            return undefined
          }}
        >
          Try
        </ActionButton>
        <ActionButton
          kind="main"
          does={async () => {
            const watch = read()
            if (watch === undefined) return undefined
            const body = { name: watch.name, every: every.value, ...watch.probe }
            const made = await sent<Watch>("POST", PATH, body, fault)
            if (made === undefined) return undefined
            address.value = ""
            return { text: `Watching ${made.name}` }
          }}
        >
          Watch
        </ActionButton>
      </div>
      <Fault of={fault} />
      {trial.value !== "" && (
        <p class="lead" role="status">
          {trial.value}
        </p>
      )}
    </>
  )
}

const Pause = ({ is_paused, name }: Pick<Watch, "is_paused" | "name">) => (
  <ActionButton
    describes={`${is_paused ? "Resume" : "Pause"} ${name}`}
    does={async () => {
      await call("POST", `${PATH}/${segment(name)}/pause`, { body: { for: is_paused ? "0s" : "8h" } })
      return { text: is_paused ? `Resumed ${name}` : `Paused ${name} for 8 h` }
    }}
  >
    {is_paused ? "Resume" : "Pause 8 h"}
  </ActionButton>
)

/** Probes that the server repeats. */
export const Watches = () => (
  <>
    <h1>Watches</h1>
    {mayAdminister.value && <WatchForm />}
    <WatchList />
  </>
)

/** Each watch with its last result. */
export const WatchList = () => (
  <NamedList<Watch>
    label="Watches"
    path={PATH}
    empty={["Nothing is watched yet", "The server itself probes pages and ports."]}
  >
    {({ every, is_of_policy, is_paused, last, name, status }) => ({
      subject: last === null ? "not probed yet" : last.output,
      label: status ?? "waiting",
      note: is_paused ? "paused" : undefined,
      when: (
        <>
          every {every}
          {last !== null && (
            <>
              , probed <Time at={last.at} />
            </>
          )}
        </>
      ),
      actions: (
        <span class="actions">
          {mayRespond.value && <Pause name={name} is_paused={is_paused} />}
          {mayAdminister.value && !is_of_policy && (
            <RemoveButton
              name={name}
              noun="watch"
              path={PATH}
              question={`Remove ${name} with its check and history?`}
            />
          )}
        </span>
      ),
    })}
  </NamedList>
)
