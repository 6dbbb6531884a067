import { useSignal } from "@preact/signals"
import type { HeldOutboxItem } from "@tocsin/client"
import { useEffect, useMemo, useRef } from "preact/hooks"
import { headlineOf } from "@tocsin/contract/formats/headline"
import { countText } from "../format/times.ts"
import { arranged, placeAmong, type Sorts } from "../state/arranged.ts"
import { holdText } from "../state/holdText.ts"
import { causeWords } from "../state/incidentTimeline.ts"
import { listOf, MOST } from "../state/lists.ts"
import { route } from "../state/location.ts"
import { nameAmong, sharedTitles } from "../state/names.ts"
import { followReplays, replayAll } from "../state/outboxActions.ts"
import { itemsOf } from "../state/Pages.ts"
import { linkTo } from "../state/Route.ts"
import { mayAdminister } from "../state/session.ts"
import { summary } from "../state/summary.ts"
import { Export } from "../view/Export.tsx"
import { ActionButton, QuietButton } from "../view/forms.tsx"
import { column, type Columns, Listing } from "../view/Listing.tsx"
import { mainLink } from "../view/rowLinks.tsx"
import { Empty, Mark, Time, TimeAfter } from "../view/states.tsx"
import { chosen, FilterField, Tabs } from "../view/navigation.tsx"
import { usePages } from "../view/usePages.ts"
import { ItemActions } from "./IncidentPage.tsx"

const TABS = [
  ["all", "All", {}, "No notifications yet"],
  ["held", "Held", { held: true, state: "pending" }, "Nothing is held"],
  ["pending", "Pending", { state: "pending" }, "Nothing waits"],
  ["retry", "Retry", { state: "retry" }, "Nothing is tried again"],
  ["failed", "Failed", { state: "failed" }, "Nothing has failed"],
  ["sent", "Sent", { state: "sent" }, "Nothing was sent yet"],
] as const

type NameOf = (item: HeldOutboxItem) => string

const keyOf: NameOf = ({ incident_key: key }) => key

const aboutOf = (item: HeldOutboxItem, shownOf: NameOf = nameAmong("", keyOf)): string =>
  [shownOf(item), headlineOf(item.summary ?? undefined)].filter(Boolean).join(" · ")

/** The holds of a notification, or else why it was made or could not be sent. */
const causeOf = ({
  attempts,
  cause,
  held_by,
  held_until,
  last_error,
  next_attempt_at,
  state,
  why = "",
}: HeldOutboxItem) => {
  const tried = attempts > 1 ? countText(attempts, "attempt") : ""
  const made = [...causeWords(cause), ...(tried === "" ? [] : [`after ${tried}`])].join(" ")
  const was =
    last_error === undefined || last_error === null ? made : [tried, last_error].filter(Boolean).join(": ")
  const reason = [why, was].filter(Boolean).join("; ")
  return held_by.length > 0 ? (
    <em class="is-held" title={reason}>
      held: {held_by.map(holdText).join("; ")}
      <TimeAfter text=", ends " at={held_until} />
    </em>
  ) : (
    <span class="subject reason">
      {state === "retry" && typeof next_attempt_at === "string" && (
        <>
          again <Time at={next_attempt_at} />,{" "}
        </>
      )}
      {reason}
    </span>
  )
}

const placeOf = placeAmong(["failed", "retry", "sending", "pending", "sent", "discarded"])

const nameOf: NameOf = ({ event_type, receiver }) => `${event_type} to ${receiver}`

const SORTS: Sorts<HeldOutboxItem> = {
  state: ({ state }) => placeOf(state),
  name: nameOf,
  incident: (item) => aboutOf(item),
  changed: ({ updated_at: at }) => at,
}

const columnsOf = (shownOf: NameOf): Columns<HeldOutboxItem> => [
  column("State", "6.5rem", ({ state }) => <Mark state={state} />, "state"),
  column(
    "Notification",
    "minmax(9.5rem, 1fr)",
    (item) => mainLink(linkTo("incidents", [item.incident_id]), nameOf(item)),
    "name",
  ),
  column(
    "Incident, and cause or error",
    3.7,
    (item) => (
      <span class="said">
        <span class="subject">{aboutOf(item, shownOf)}</span>
        <span class="cause">
          {causeOf(item)}
          <ItemActions {...item} />
        </span>
      </span>
    ),
    "incident",
  ),
  column("Changed", "6.75rem", ({ updated_at: at }) => at !== undefined && <Time at={at} />, "changed"),
]

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
      <ActionButton does={does}>Replay all failed</ActionButton>
      <span role="status">{progress}</span>
      {isRunning && <QuietButton does={() => (isStopped.current = true)}>Stop</QuietButton>}
    </div>
  )
}

export const Outbox = () => {
  const { filter: search = "", sort, tab: wanted } = route.value.parameters
  const [tab, , filters, nothing] = chosen(TABS, wanted)
  /** As a whole, by an order that does not move while its pages are read. */
  const list = (limit?: number) => {
    const order = limit === undefined ? {} : { sort: "created_at" }
    return listOf<HeldOutboxItem>("ops/v1/outbox", { ...filters, ...order }, limit)
  }
  const listed = usePages(arranged(list, { sorts: SORTS, sort, search }))
  const shared = useMemo(() => sharedTitles(itemsOf(listed.pages), keyOf), [listed.pages])
  const columns = useMemo(() => columnsOf(nameAmong(shared, keyOf)), [shared])
  return (
    <>
      <Tabs label="Which notifications" parameter="tab" current={tab} tabs={TABS}>
        <Export name="outbox" lists={[list(MOST)]} />
      </Tabs>
      {(tab === "failed" || tab === "all") && mayAdminister.value && (
        <ReplayAll isOffered={search === "" && (summary.value?.dead_letters ?? 0) > 0} />
      )}
      <div class="filters">
        <FilterField what="receiver, incident or error" />
      </div>
      <Listing
        label="Notifications"
        kind="outbox"
        columns={columns}
        listed={listed}
        keyOf={({ id }) => id}
        empty={
          search === "" ? (
            <Empty title={nothing}>{tab === "all" && "The first incident brings some."}</Empty>
          ) : (
            <Empty title="Nothing matches" />
          )
        }
      />
    </>
  )
}
