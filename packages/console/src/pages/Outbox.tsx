import { useSignal } from "@preact/signals"
import type { HeldOutboxItem } from "@tocsin/client"
import { useEffect, useRef } from "preact/hooks"
import { countText, numberText } from "../format/times.ts"
import { segment } from "../api/request.ts"
import { titleOf } from "../state/incidentActs.ts"
import { holdText } from "../state/incidentStory.ts"
import { listOf } from "../state/lists.ts"
import { route } from "../state/location.ts"
import { itemsOf } from "../state/Pages.ts"
import { linkTo } from "../state/Route.ts"
import { call, mayAdminister } from "../state/session.ts"
import { ActButton } from "../view/ActButton.tsx"
import { Mark } from "../view/marks.tsx"
import { Listing } from "../view/Listing.tsx"
import { Empty } from "../view/states.tsx"
import { Tabs } from "../view/Tabs.tsx"
import { Time } from "../view/Time.tsx"
import { useDetail } from "../view/useDetail.ts"
import { usePages } from "../view/usePages.ts"
import { Release, Replay } from "./IncidentPage.tsx"

const TABS = [
  ["all", "All", {}, "No notifications yet"],
  ["held", "Held", { held: true, state: "pending" }, "Nothing is held"],
  ["pending", "Pending", { state: "pending" }, "Nothing waits"],
  ["retry", "Retry", { state: "retry" }, "Nothing is tried again"],
  ["failed", "Dead letters", { state: "failed" }, "No dead letters"],
  ["sent", "Sent", { state: "sent" }, "Nothing was sent yet"],
] as const

/** Which incident it is about, and why it was written or failed. */
const About = ({ item }: { readonly item: HeldOutboxItem }) => {
  const incident = useDetail(item.incident_id)?.incident
  const reason = item.last_error ?? item.cause ?? ""
  const about = incident === undefined ? "" : `${incident.incident_key} · ${titleOf(incident)}`
  return (
    <>
      <span class="subject" title={about}>
        {about}
      </span>
      <span class="subject reason" title={reason}>
        {reason}
      </span>
    </>
  )
}

const Row = ({ item }: { readonly item: HeldOutboxItem }) => (
  <div class="row outbox" data-id={item.id}>
    <Mark state={item.state} />
    <a class="main" href={linkTo("incidents", [item.incident_id])}>
      {item.event_type} to {item.receiver}
    </a>
    <About item={item} />
    <span class="notes">
      {item.held_by.length > 0 && (
        <em class="held">
          held: {item.held_by.map(holdText).join("; ")}
          {typeof item.held_until === "string" && (
            <>
              , until <Time at={item.held_until} />
            </>
          )}
        </em>
      )}
      {item.attempts > 1 && <em>{countText(item.attempts, "attempt")}</em>}
      {item.state === "retry" && typeof item.next_attempt_at === "string" && (
        <em>
          tried again <Time at={item.next_attempt_at} />
        </em>
      )}
      {mayAdminister.value && item.held_by.length > 0 && <Release id={item.id} />}
      {mayAdminister.value && item.state === "failed" && <Replay id={item.id} />}
    </span>
    {item.updated_at !== undefined && <Time at={item.updated_at} />}
  </div>
)

/** Sends all dead letters that were read again, one after the other, until somebody stops it. */
const ReplayAll = ({
  items,
  isWhole,
}: {
  readonly items: ReadonlyArray<HeldOutboxItem>
  readonly isWhole: boolean
}) => {
  const progress = useSignal("")
  const isStopped = useRef(false)
  useEffect(() => () => void (isStopped.current = true), [])
  const replayAll = async () => {
    isStopped.current = false
    let count = 0
    try {
      for (const { id } of items) {
        if (isStopped.current) break
        progress.value = `${numberText(count)} of ${numberText(items.length)} replayed`
        await call("POST", `ops/v1/notifiers/outbox/${segment(id)}/replay`)
        count += 1
      }
    } finally {
      progress.value = ""
    }
    return { text: `Replayed ${countText(count, "notification")}` }
  }
  const isRunning = progress.value !== ""
  if (items.length === 0 && !isRunning) return null
  const which = isWhole ? "all" : "the first"
  const all = `${which} ${numberText(items.length)}`
  return (
    <div class="bar">
      <ActButton
        does={replayAll}
        confirms={[`Send ${which} ${countText(items.length, "dead letter")} again?`, `Replay ${all} now`]}
      >
        Replay {all}
      </ActButton>
      <span role="status">{progress}</span>
      {isRunning && (
        <button type="button" class="quiet" onClick={() => (isStopped.current = true)}>
          Stop
        </button>
      )}
    </div>
  )
}

/** Notifications on their way: what waits and why, and what failed. */
export const Outbox = () => {
  const { tab: wanted } = route.value.parameters
  const [tab, , filters, nothing] = TABS.find(([name]) => name === wanted) ?? TABS[0]
  const listed = usePages(listOf<HeldOutboxItem>("ops/v1/outbox", { ...filters }))
  return (
    <>
      <h1>Outbox</h1>
      <Tabs label="Which notifications" parameter="tab" current={tab} tabs={TABS} />
      {tab === "failed" && mayAdminister.value && (
        <ReplayAll items={itemsOf(listed.pages)} isWhole={listed.pages.next === null} />
      )}
      <Listing
        label="Notifications"
        listed={listed}
        keyOf={({ id }) => id}
        empty={<Empty title={nothing}>{tab === "all" && "The first incident brings some."}</Empty>}
      >
        {(item) => <Row item={item} />}
      </Listing>
    </>
  )
}
