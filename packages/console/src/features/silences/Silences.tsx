import { silenceColumns } from "@tocsin/contract/silences/silenceColumns"
import type { Silence, WindowList } from "@tocsin/client"
import { useMemo } from "preact/hooks"
import { momentText } from "../../format/times.ts"
import { now } from "../../state/clock.ts"
import { arranged, placeAmong, type Sorts } from "../../state/arranged.ts"
import { listOf, MOST } from "../../state/lists.ts"
import { route, setParameters } from "../../state/location.ts"
import { nameAmong, sharedTitles } from "../../state/names.ts"
import { itemsOf } from "../../state/Pages.ts"
import { linkTo } from "../../state/Route.ts"
import { mayRespond } from "../../state/session.ts"
import { expire, extend, matchersText } from "./silenceActions.ts"
import { Export } from "../../view/Export.tsx"
import { ActionButton, QuietButton } from "../../view/forms.tsx"
import { type ManyAct, useMany } from "../../view/manyActs.tsx"
import { column, type Columns, Listing } from "../../view/Listing.tsx"
import { Empty, Mark, ReadingNote, Time } from "../../view/states.tsx"
import { chosen, FilterField, Tabs } from "../../view/navigation.tsx"
import { decide } from "../../pages/decide.ts"
import { PolicyFormButton } from "../../view/PolicyFormButton.tsx"
import { Loaded } from "../../view/Script.tsx"
import { usePages, useRead } from "../../view/usePages.ts"
import { SilenceForm } from "./SilenceForm.tsx"

const TABS = [
  ["all", "All", "No silences yet"],
  ["active", "Active", "Nothing is silenced"],
  ["scheduled", "Scheduled", "No silence is scheduled"],
  ["expired", "Expired", "No silence has ended"],
] as const

/** When it begins or ends: how far off that is, and which time. */
const When = ({ silence: { state, starts_at, ends_at } }: { readonly silence: Silence }) => {
  if (state === "expired")
    return (
      <span class="when">
        ended <Time at={ends_at} />
      </span>
    )
  const [word, at] = state === "scheduled" ? ["starts", starts_at] : ["ends", ends_at]
  const [moment, end] = [Date.parse(at), Date.parse(ends_at)]
  return (
    <>
      <span class="when">
        {word} <Time at={at} />
      </span>
      <span class="exact">
        <span class="word">{word} </span>
        {momentText(moment, now.peek())}
        {state === "scheduled" && ` – ${momentText(end, moment)}`}
      </span>
    </>
  )
}

const placeOf = placeAmong(["active", "scheduled", "expired"])

const SORTS: Sorts<Silence> = {
  state: ({ state }) => placeOf(state),
  name: ({ comment }) => comment,
  by: ({ created_by }) => created_by,
  time: ({ ends_at, starts_at, state }) => (state === "scheduled" ? starts_at : ends_at),
}

/** By which silences of one comment differ. */
const matchersOf = ({ matchers }: Pick<Silence, "matchers">): string =>
  matchersText(matchers).replaceAll("\n", ", ")

const titled = (silence: Silence) => ({ ...silence, title: silence.comment })

const nameBeside =
  (shared: string) =>
  (silence: Silence): string =>
    nameAmong(shared, matchersOf)(titled(silence))

const columnsOf = (shared: string): Columns<Silence> => [
  column("State", "6.5rem", ({ state }) => <Mark state={state} />, "state"),
  column(
    "Comment and matchers",
    1,
    (silence) => (
      <>
        <b>{nameBeside(shared)(silence)}</b>
        <code class="subject">{matchersOf(silence)}</code>
      </>
    ),
    "name",
  ),
  column(
    "By",
    "minmax(4rem, 0.3fr)",
    ({ created_by }) => (
      <span class="notes">
        <em>{created_by}</em>
      </span>
    ),
    "by",
  ),
  column("Time", "8.5rem", (silence) => <When silence={silence} />, "time"),
  column(
    "",
    "9.75rem",
    (silence) =>
      mayRespond.value &&
      silence.state !== "expired" && (
        <span class="actions">
          <ActionButton describes="Extend it by 1 hour" does={() => extend(silence)}>
            Extend 1 h
          </ActionButton>
          <ActionButton kind="danger" describes="End it now" does={() => expire(silence)}>
            End
          </ActionButton>
        </span>
      ),
  ),
]

const ended = "had ended"

const MANY: ReadonlyArray<ManyAct<Silence>> = [
  {
    label: "Delete",
    did: "Deleted",
    asks: ": end now, and send what they held?",
    isOffered: mayRespond,
    isDanger: true,
    does: async (silence) => (silence.state === "expired" ? ended : void (await expire(silence))),
  },
]

export const Silences = () => {
  const { tab: wanted, filter = "", incidents = "", matchers = "", sort } = route.value.parameters
  const isNew = incidents + matchers !== "" || route.value.parameters["new"] === "yes"
  const [tab, , nothing] = chosen(TABS, wanted)
  const list = (limit?: number) =>
    listOf<Silence>("ops/v1/silences", { state: tab === "all" ? undefined : tab }, limit)
  const sorted = arranged(list, { sorts: SORTS, sort, search: filter })
  const listed = usePages(sorted)
  const shared = useMemo(() => sharedTitles(itemsOf(listed.pages).map(titled), matchersOf), [listed.pages])
  const [boxes, bar] = useMany({
    noun: "silence",
    acts: MANY,
    list: sorted,
    listed,
    idOf: ({ id }) => id,
    nameOf: nameBeside(shared),
  })
  const picks = mayRespond.value
  const columns = useMemo(() => [...(picks ? [boxes] : []), ...columnsOf(shared)], [boxes, picks, shared])
  const windows = useRead<WindowList>("ops/v1/windows")
  return (
    <>
      {mayRespond.value && isNew && <SilenceForm key={`${incidents} ${matchers}`} />}
      {mayRespond.value && (
        <p>
          <QuietButton does={() => setParameters({ new: "yes" })}>New silence</QuietButton>
        </p>
      )}
      <Tabs label="Which silences" parameter="tab" current={tab} tabs={TABS}>
        <Export name="silences" columns={silenceColumns} lists={[list(MOST)]} />
      </Tabs>
      <div class="tools">
        <div class="filters">
          <FilterField what="comment, matchers or person" />
        </div>
        {bar}
      </div>
      <Listing
        label="Silences"
        kind={picks ? "silence picks" : "silence"}
        columns={columns}
        listed={listed}
        keyOf={({ id }) => id}
        size="double"
        empty={
          filter === "" ? (
            <Empty title={nothing}>{mayRespond.value && "Create one, here or from an incident."}</Empty>
          ) : (
            <Empty title="Nothing matches" />
          )
        }
      />
      <h2>Maintenance windows</h2>
      <ReadingNote reading={windows} />
      <Loaded of={decide} draw={({ Windows }) => windows.value && <Windows {...windows.value} />} />
      <p class="after">
        <PolicyFormButton form="window" label="Add a window" />
      </p>
      <p class="after">
        <a href={linkTo("system")}>The policy in force</a>
      </p>
    </>
  )
}
