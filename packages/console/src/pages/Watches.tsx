import { useSignal } from "@preact/signals"
import type { Watch, WatchTrial } from "@tocsin/client"
import { WATCH_ADDRESSES, watchOfAddress } from "@tocsin/contract/watchOfAddress"
import { segment } from "../api/request.ts"
import { listOf } from "../state/lists.ts"
import { call, mayAdminister, mayRespond } from "../state/session.ts"
import { ActionButton } from "../view/buttons.tsx"
import { created, Fault } from "../view/creation.tsx"
import { Listing } from "../view/Listing.tsx"
import { Time } from "../view/marks.tsx"
import { Empty } from "../view/states.tsx"
import { usePages } from "../view/usePages.ts"

const PERIODS = ["10s", "30s", "1m", "5m", "1h"]

const CreateForm = () => {
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
        <label>
          Address
          <input
            value={address}
            onInput={(event) => (address.value = event.currentTarget.value)}
            placeholder="https://example.org/"
            autoComplete="off"
          />
        </label>
        <label>
          Every
          <select value={every} onChange={(event) => (every.value = event.currentTarget.value)}>
            {PERIODS.map((period) => (
              <option key={period} value={period}>
                {period}
              </option>
            ))}
          </select>
        </label>
        <ActionButton
          does={async () => {
            const watch = read()
            if (watch === undefined) return undefined
            const result = await created<WatchTrial>("ops/v1/watches/try", watch.probe, fault)
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
            const made = await created<Watch>("ops/v1/watches", body, fault)
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

const path = (name: string): string => `ops/v1/watches/${segment(name)}`

const Pause = ({ is_paused, name }: Pick<Watch, "is_paused" | "name">) => (
  <ActionButton
    describes={`${is_paused ? "Resume" : "Pause"} ${name}`}
    does={async () => {
      await call("POST", `${path(name)}/pause`, { body: { for: is_paused ? "0s" : "8h" } })
      return { text: is_paused ? `Resumed ${name}` : `Paused ${name} for 8 h` }
    }}
  >
    {is_paused ? "Resume" : "Pause 8 h"}
  </ActionButton>
)

const Remove = ({ name }: Pick<Watch, "name">) => (
  <ActionButton
    kind="danger"
    describes={`Remove ${name}`}
    confirms={[`Remove ${name} with its check and history?`, "Remove the watch"]}
    does={async () => {
      await call("DELETE", path(name))
      return { text: `Removed ${name}` }
    }}
  >
    Remove
  </ActionButton>
)

/** Probes that the server repeats. */
export const Watches = () => (
  <>
    <h1>Watches</h1>
    {mayAdminister.value && <CreateForm />}
    <Listing
      label="Watches"
      listed={usePages(listOf<Watch>("ops/v1/watches", {}))}
      keyOf={({ name }) => name}
      size="tall"
      empty={<Empty title="Nothing is watched yet">The server itself probes pages and ports.</Empty>}
    >
      {({ every, is_of_policy, is_paused, last, name, status }) => (
        <div class="row operator" data-id={name}>
          <b>{name}</b>
          <span class="subject">{last === null ? "not probed yet" : last.output}</span>
          <span class="notes">
            <em class="taker">{status ?? "waiting"}</em>
            {is_paused && <em>paused</em>}
          </span>
          <span class="when">
            every {every}
            {last !== null && (
              <>
                , probed <Time at={last.at} />
              </>
            )}
          </span>
          <span class="actions">
            {mayRespond.value && <Pause name={name} is_paused={is_paused} />}
            {mayAdminister.value && !is_of_policy && <Remove name={name} />}
          </span>
        </div>
      )}
    </Listing>
  </>
)
