import { useSignal } from "@preact/signals"
import type { HeldOutboxItem, PolicyInForce } from "@tocsin/client"
import { useRef } from "preact/hooks"
import { faultOf } from "../state/health.ts"
import { inOrder, listOf, readAll } from "../state/lists.ts"
import { route } from "../state/location.ts"
import { HOME, linkTo } from "../state/Route.ts"
import { mayAdminister } from "../state/session.ts"
import { isWatching } from "../state/summary.ts"
import { Icon } from "../view/icons.tsx"
import { Tabs } from "../view/navigation.tsx"
import { Loaded } from "../view/Script.tsx"
import { Empty, TimeAfter } from "../view/states.tsx"
import { useRead, useResource } from "../view/usePages.ts"
import { features } from "../features.ts"
import { decide } from "./decide.ts"

const WAYS = features.flatMap(({ ways = [] }) => ways)

const Watch = () => {
  const wanted = route.value.parameters["way"]
  const shown = WAYS.find(([each]) => each === wanted) ?? WAYS[0]
  if (shown === undefined) return null
  const [way, , Way] = shown
  return (
    <>
      <Tabs label="What to watch" parameter="way" current={way} tabs={WAYS} />
      <Way />
    </>
  )
}

/** Kinds of receivers that reach people, unlike the server's log. */
const REACHING = ["messenger", "webhook", "alert_router"] as const

/** A firing that a receiver took, if one did. */
const useArrived = () => {
  const query = { state: "sent", event_type: "firing" }
  const { value } = useResource("arrived firing", ["outbox"], async () => {
    const lists = REACHING.map(
      (notifier) => listOf<HeldOutboxItem>("ops/v1/outbox", { ...query, notifier }, 1).read,
    )
    return await readAll({ read: inOrder(lists) }, { most: 1 })
  })
  return value
}

const Arrival = ({ item }: { readonly item: HeldOutboxItem | undefined }) =>
  item === undefined ? (
    <>
      <p>
        Let something fail: watch a page that does not exist, or run the line of a job after{" "}
        <code>false</code>. An incident opens within two minutes, and the receivers get a message.
      </p>
      <p class="lead">Waiting for the first message that arrives …</p>
    </>
  ) : (
    <p>
      {item.receiver} got “{item.incident_key}
      {item.summary !== undefined && `: ${item.summary}`}”
      <TimeAfter text=" " at={item.updated_at} />. <a href={linkTo("outbox")}>All notifications</a>
    </p>
  )

/** The steps, what each shows, and whether the service knows it as done; undefined until that was read. */
const useSteps = () => {
  const reading = useRead<PolicyInForce>("ops/v1/policy")
  const { value: policy } = reading
  const arrived = useArrived()
  const works = policy?.receivers.some(
    ({ name, notifier }) => notifier !== "debug" && faultOf(policy, name) === undefined,
  )
  return [
    ["Watch something", () => <Watch />, isWatching.value],
    [
      "Choose where alerts go",
      () => <Loaded of={decide} draw={({ ReceiverTable }) => <ReceiverTable reading={reading} />} />,
      works,
    ],
    ["See an alert arrive", () => <Arrival item={arrived?.[0]} />, arrived && arrived.length > 0],
  ] as const
}

const Steps = () => {
  const steps = useSteps()
  const first = "way" in route.value.parameters ? steps[0] : steps.find(([, , isDone]) => isDone === false)
  // The step that the reader is at stays open when it is done.
  const opened = useRef<string | undefined>(undefined)
  const seen = useSignal<ReadonlyArray<string>>([])
  if (steps.every(([, , isDone]) => isDone !== undefined)) opened.current ??= first?.[0] ?? ""
  return (
    <>
      <ol class="steps">
        {steps.map(([title, draw, isDone], place) => (
          <li key={title}>
            <details
              name="steps"
              open={opened.current === title}
              onToggle={({ currentTarget }) => {
                if (!currentTarget.open) return
                opened.current = title
                seen.value = [...seen.value, title]
              }}
            >
              {/* The reader may choose before the states are read, which may be before the step has opened. */}
              <summary onClick={() => (opened.current = title)}>
                <span class={isDone === true ? "number is-ok" : "number"}>
                  {isDone === true ? <Icon name="tick" /> : place + 1}
                </span>
                <h2>{title}</h2>
                {isDone === true && <span class="mark is-ok">done</span>}
              </summary>
              {seen.value.includes(title) && draw()}
            </details>
          </li>
        ))}
      </ol>
      {steps.every(([, , isDone]) => isDone) && (
        <p>
          All of it works. <a href={linkTo(HOME)}>Go to the overview</a>
        </p>
      )}
    </>
  )
}

/** Asks what to watch and where alerts go. Each step shows its result, and each can be left out. */
export const StartPage = () =>
  mayAdminister.value ? (
    <Steps />
  ) : (
    <Empty title="Only administrators add something to watch">Your token has another role.</Empty>
  )
