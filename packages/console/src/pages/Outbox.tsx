import { useSignal } from "@preact/signals"
import type { HeldOutboxItem } from "@tocsin/client"
import { useEffect, useRef } from "preact/hooks"
import { countText } from "../format/times.ts"
import { holdText } from "../state/incidentTimeline.ts"
import { listOf } from "../state/lists.ts"
import { route } from "../state/location.ts"
import { followReplays, replayAll } from "../state/outboxActions.ts"
import { rowCount } from "../state/Pages.ts"
import { linkTo } from "../state/Route.ts"
import { mayAdminister } from "../state/session.ts"
import { ActionButton, QuietButton } from "../view/forms.tsx"
import { Listing } from "../view/Listing.tsx"
import { Empty, Mark, Time } from "../view/states.tsx"
import { Tabs } from "../view/navigation.tsx"
import { usePages } from "../view/usePages.ts"
import { Release, Replay } from "./IncidentPage.tsx"

const TABS = [
  ["all", "All", {}, "No notifications yet"],
  ["held", "Held", { held: true, state: "pending" }, "Nothing is held"],
  ["pending", "Pending", { state: "pending" }, "Nothing waits"],
  ["retry", "Retry", { state: "retry" }, "Nothing is tried again"],
  ["failed", "Failed", { state: "failed" }, "Nothing has failed"],
  ["sent", "Sent", { state: "sent" }, "Nothing was sent yet"],
] as const

const drawItem = (item: HeldOutboxItem) => {
  const reason = item.last_error ?? item.cause?.replaceAll("_", " ") ?? ""
  const about = `${item.incident_key} · ${item.summary ?? ""}`
  return (
    <>
      <Mark state={item.state} />
      <a class="main" href={linkTo("incidents", [item.incident_id])}>
        {item.event_type} to {item.receiver}
      </a>
      <span class="subject" title={about}>
        {about}
      </span>
      <span class="cause">
        {item.held_by.length > 0 ? (
          <em class="is-held" title={reason}>
            held: {item.held_by.map(holdText).join("; ")}
            {typeof item.held_until === "string" && (
              <>
                , until <Time at={item.held_until} />
              </>
            )}
          </em>
        ) : (
          <span class="subject reason" title={reason}>
            {item.state === "retry" && typeof item.next_attempt_at === "string" && (
              <>
                again <Time at={item.next_attempt_at} />,{" "}
              </>
            )}
            {item.attempts > 1 && `${countText(item.attempts, "attempt")}: `}
            {reason}
          </span>
        )}
        {mayAdminister.value && item.held_by.length > 0 && <Release id={item.id} />}
        {mayAdminister.value && item.state === "failed" && <Replay id={item.id} />}
      </span>
      {item.updated_at !== undefined && <Time at={item.updated_at} />}
    </>
  )
}

/** Sends all failed notifications again, until the operator stops it. */
const ReplayAll = ({ isOffered }: { readonly isOffered: boolean }) => {
  const progress = useSignal("")
  const isStopped = useRef(false)
  useEffect(() => () => void (isStopped.current = true), [])
  const does = async () => {
    isStopped.current = false
    try {
      return await replayAll({
        follow: followReplays,
        shows: (text) => (progress.value = text),
        isStopped: () => isStopped.current,
      })
    } finally {
      progress.value = ""
    }
  }
  const isRunning = progress.value !== ""
  if (!isOffered && !isRunning) return null
  return (
    <div class="bar">
      <ActionButton does={does}>Replay all</ActionButton>
      <span role="status">{progress}</span>
      {isRunning && <QuietButton does={() => (isStopped.current = true)}>Stop</QuietButton>}
    </div>
  )
}

export const Outbox = () => {
  const { tab: wanted } = route.value.parameters
  const [tab, , filters, nothing] = TABS.find(([name]) => name === wanted) ?? TABS[0]
  const listed = usePages(listOf<HeldOutboxItem>("ops/v1/outbox", { ...filters }))
  return (
    <>
      <h1>Outbox</h1>
      <Tabs label="Which notifications" parameter="tab" current={tab} tabs={TABS} />
      {tab === "failed" && mayAdminister.value && <ReplayAll isOffered={rowCount(listed.pages) > 0} />}
      <Listing
        label="Notifications"
        kind="outbox"
        heads={["State", "Notification", "Incident", "Cause or error", "Changed"]}
        listed={listed}
        keyOf={({ id }) => id}
        empty={<Empty title={nothing}>{tab === "all" && "The first incident brings some."}</Empty>}
      >
        {drawItem}
      </Listing>
    </>
  )
}
