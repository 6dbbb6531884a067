import { useSignal } from "@preact/signals"
import type { Setting, SettingList, Watch, WatchTrial } from "@tocsin/client"
import { boundedMillis } from "@tocsin/contract/formats/durationMillis"
import { idOfTitle } from "@tocsin/contract/titles/idOfTitle"
import { addressOfWatch, watchOfAddress } from "@tocsin/contract/watches/watchOfAddress"
import { METHODS } from "@tocsin/contract/watches/watchOptions"
import { segment } from "../../api/request.ts"
import { saidText } from "../../format/saidText.ts"
import { placeAmong } from "../../state/arranged.ts"
import { now } from "../../state/clock.ts"
import { untilText } from "../../state/holdText.ts"
import { STATES } from "../../state/lists.ts"
import { linkTo } from "../../state/Route.ts"
import { call, carryOut, mayAdminister, mayRespond } from "../../state/session.ts"
import { type FormField, type Texts, withOption } from "../../view/FormField.ts"
import { ActionButton, type FormAct, QuietButton } from "../../view/forms.tsx"
import { loopbackText } from "./loopbackText.ts"
import {
  HEADER_EXAMPLE,
  JSON_EXAMPLE,
  labelsField,
  labelsIn,
  OPTIONS,
  PLACES,
  probeOf,
  textsOf,
  watchOf,
} from "./watchForm.ts"
import { silenceAct } from "../silences/silenceAct.ts"
import { placeFields, placesIn } from "./placeFields.ts"
import { type Places, PlaceTable, unseenText, usePlaces, WatchPlaces } from "./Places.tsx"
import { Mark, Missing, TimeAfter } from "../../view/states.tsx"
import { StatusStrip, StripReader } from "../../view/StatusStrip.tsx"
import type { ManyAct } from "../../view/manyActs.tsx"
import { NamedForm, NamedTable } from "../../view/Named.tsx"
import type { Kind } from "../../view/NamedKind.ts"
import { type Tried, WatchTried } from "./WatchTried.tsx"
import { useRead } from "../../view/usePages.ts"

const PATH = "ops/v1/watches"
/** The agent that has the results of watches. */
export const WATCHER = "watches"
const PERIODS = [["10s"], ["30s"], ["1m"], ["5m"], ["1h"]] as const

const placeOf = placeAmong(STATES)

/** Results that do not count yet. */
const unconfirmedText = ({ confirm, last, unconfirmed }: Watch): string =>
  unconfirmed === 0
    ? ""
    : `${unconfirmed} of ${last?.status === "ok" ? `${confirm.good} successes` : `${confirm.bad} failures`}`

/** Until when it is paused, if it is. */
const pausedText = ({ is_paused, paused_until: until }: Watch): string =>
  is_paused ? `paused${untilText(until ?? undefined, now.peek())}` : ""

const Pause = ({ is_paused, name, title }: Pick<Watch, "is_paused" | "name" | "title">) => (
  <ActionButton
    describes={`${is_paused ? "Resume" : "Pause"} ${name}`}
    does={() => {
      const called = title ?? name
      const [done, span] = is_paused ? [`Resumed ${called}`, "0s"] : [`Paused ${called} for 8 h`, "8h"]
      return carryOut(done, "POST", `${PATH}/${segment(name)}/pause`, { body: { for: span } })
    }}
  >
    {is_paused ? "Resume" : "Pause 8 h"}
  </ActionButton>
)

const remove = ({ name }: Watch) => call("DELETE", `${PATH}/${segment(name)}`)
const pauseFor =
  (span: string) =>
  ({ name }: Watch) =>
    call("POST", `${PATH}/${segment(name)}/pause`, { body: { for: span } })

const MANY: ReadonlyArray<ManyAct<Watch>> = [
  { label: "Pause", did: "Paused", asks: " for 8 h?", isOffered: mayRespond, does: pauseFor("8h") },
  { label: "Resume", did: "Resumed", isOffered: mayRespond, does: pauseFor("0s") },
  silenceAct(({ name }) => ({ agent_id: WATCHER, check_id: name })),
  {
    label: "Delete",
    did: "Deleted",
    asks: " with their checks and their history?",
    isOffered: mayAdminister,
    isDanger: true,
    does: remove,
  },
]

const drawTimes = ({ every, last }: Watch) => (
  <>
    every {every}
    <TimeAfter text=", probed " at={last?.at} />
  </>
)

const VERIFIES = [
  ["true", "must be trusted"],
  ["false", "is not checked (private, self-signed)"],
] as const
const hasCertificate = ({ address = "" }: Texts): boolean => /^(?:https|tls|wss):/i.test(address)

const rareFields = (former: Watch | undefined): Readonly<Record<string, FormField>> => {
  const days = { type: "number", min: 1, max: 3_650 } as const
  const kept = former?.secrets?.length && `Blank keeps ${former.secrets.join(", ")} at this host.`
  const fields: Readonly<Record<(typeof OPTIONS)[number], FormField>> = {
    text: { label: "The page must contain" },
    not_text: { label: "The page must not contain" },
    json: { label: "JSON must have", hasLines: true, example: `${JSON_EXAMPLE}\n/data/0/state: ok` },
    header: { label: "The header must have", hasLines: true, example: "content-type: ~ text/*" },
    statuses: { label: "Statuses that are ok", example: "200, 300-399" },
    method: { label: "Method", options: METHODS.map((one) => [one] as const) },
    slow: { label: "Slow: a warning after", example: "1s" },
    late: { label: "Slow: critical after", example: "3s" },
    warning: { label: "Certificate: warning days", ...days },
    critical: { label: "Certificate: critical days", ...days },
    verify: { label: "The certificate", options: VERIFIES, isAsked: hasCertificate },
    headers: {
      label: "Header fields to send",
      type: "password",
      hasLines: true,
      example: HEADER_EXAMPLE,
      ...(kept && { hint: kept }),
    },
    token: { label: "Bearer token to send", type: "password" },
    body: { label: "Body to send", type: "password", hasLines: true, example: '{"query": "ping"}' },
  }
  const before: Texts = former === undefined ? { method: "GET", verify: "true" } : textsOf(former)
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      {
        ...field,
        isRare: true,
        initial: before[name] ?? "",
        refusedAs: new RegExp(`^\\w+\\.(?:expect\\.)?${PLACES[name] ?? name}\\b\\S*`),
      },
    ]),
  )
}

const ADDRESS_HINT =
  "Of a page; tcp://host:port is a port, tls://host a certificate, ping:host a host, dns:name a name."

const drawSubject = (places: Places) => (watch: Watch) => {
  const { last, status } = watch
  const unseen = !watch.is_paused && unseenText(watch, places)
  // Beside the state, these would be cut.
  const said = [
    pausedText(watch),
    status !== null && unconfirmedText(watch),
    last === null ? "not probed yet" : saidText(last.output, last.status),
  ]
  return (
    <>
      {unseen && <em>{unseen}</em>} {said.filter(Boolean).join("; ")}
    </>
  )
}

const watchesFrom = (places: Places, loopback: Setting | undefined): Kind<Watch> => ({
  noun: "watch",
  title: "Watches",
  path: PATH,
  size: "watch",
  empty: ["No page is watched yet", "The server itself probes pages and ports."],
  subjectOf: drawSubject(places),
  linkOf: ({ name }) => linkTo("checks", [WATCHER, name]),
  label: [
    "State",
    (watch) => (
      <Mark
        state={watch.status ?? "pending"}
        word={watch.status ?? (unconfirmedText(watch) || "not probed")}
      />
    ),
    ({ status }) => placeOf(status ?? ""),
  ],
  when: ["Probes", drawTimes, ({ every }) => boundedMillis(every)],
  noteOf: ofPolicy,
  stripOf: ({ name }) => <StatusStrip agent_id={WATCHER} check_id={name} />,
  many: MANY,
  actionsOf: (watch) => mayRespond.value && <Pause {...watch} />,
  creates: "Watch",
  idOf: ({ address = "", title = "" }) =>
    title === "" ? watchOfAddress(address)?.name : idOfTitle(title, "watch"),
  fieldsOf: (former) => ({
    address: {
      label: "Address",
      initial: former === undefined ? "" : addressOfWatch(former),
      example: "https://example.org/",
      isWide: true,
      hint: (texts) => loopbackText(texts, loopback) ?? ADDRESS_HINT,
      refusedAs: /(?:(?:http|websocket)\.url|(?:tcp|tls|ping)\.host)\b|^Address/,
    },
    every: {
      label: "Every",
      options: withOption(PERIODS, former?.every ?? "1m"),
      initial: former?.every ?? "1m",
    },
    bad: {
      label: "Failures in a row",
      hint: "The check fails after so many in a row.",
      type: "number",
      min: 1,
      max: 10,
      initial: `${former?.confirm.bad ?? 2}`,
      refusedAs: /^confirm\.bad/,
    },
    ...placeFields(former, places),
    ...rareFields(former),
    labels: labelsField(former?.labels),
  }),
  bodyOf: ({ address = "", bad, every, labels = "", ...texts }, former, model) => {
    const confirm = { bad: Number(bad), good: (former ?? model)?.confirm.good ?? 1 }
    const stated =
      former === undefined && labels === "" ? {} : { labels: labelsIn(labels, (former ?? model)?.labels) }
    const settings = { every, confirm, ...placesIn(texts, former), ...stated }
    const before = former && textsOf(former)
    const isSame = OPTIONS.every((option) => (texts[option] ?? "") === (before?.[option] ?? ""))
    if (former !== undefined && isSame && address === addressOfWatch(former)) return settings
    return { ...settings, ...probeOf(watchOf(address).probe, texts, former ?? model) }
  },
  // No answer has its secrets.
  copyOf: ({ secrets: _, ...watch }) => watch,
  isFixed: ({ is_of_policy }) => is_of_policy,
  warning: "Its check and its history go with it.",
})

/** The kind of watches, whose form has the places as they are, and the places. */
const useWatches = () => {
  const places = usePlaces()
  const settings = useRead<SettingList>("ops/v1/settings", {}, ["policy"]).value
  const loopback = settings?.items.find(({ name }) => name === "watch_loopback")
  return [watchesFrom(places, loopback), places] as const
}

/** Why it has no button to change it. */
const ofPolicy = ({ is_of_policy }: Watch) => is_of_policy && <a href={linkTo("policy")}>in the policy</a>

interface WatchActionsProps extends Pick<Watch, "name"> {
  /** A watch has no check before its first results agree. */
  readonly hasNoCheck?: boolean
}

/** The watch that a check has its results from, beside these, and acts on it. */
export const WatchActions = ({ name, hasNoCheck = false }: WatchActionsProps) => {
  const changed = useSignal<Watch | undefined>(undefined)
  const shown = useSignal<undefined>(undefined)
  const [kind, places] = useWatches()
  const { value: watch, failure } = useRead<Watch>(`${PATH}/${segment(name)}`)
  if (hasNoCheck && failure?.code === "not_found")
    return <Missing what="watch" name={name} others={linkTo("watches")} />
  if (watch === undefined) return null
  return (
    <>
      {hasNoCheck && <p>None of its results counts yet.</p>}
      <p class="facts">
        <code>{addressOfWatch(watch)}</code>, {drawTimes(watch)}
        {watch.is_paused && `, ${pausedText(watch)}`}
      </p>
      <div class="actions">
        {mayRespond.value && <Pause {...watch} />}
        {mayAdminister.value && !watch.is_of_policy && (
          <QuietButton describes={`Change the watch ${name}`} does={() => (changed.value = watch)}>
            Change
          </QuietButton>
        )}
        {ofPolicy(watch)}
      </div>
      <WatchPlaces {...watch} all={places} />
      {changed.value !== undefined && <NamedForm of={kind} changed={changed} shown={shown} />}
    </>
  )
}

/** The watches, and the result of a trial of what the form says. */
export const Watches = () => {
  const trial = useSignal<Tried | undefined>(undefined)
  const isTrying = useSignal(false)
  const [kind, places] = useWatches()
  const attempt: FormAct[1] = async ({ address, ...texts }) => {
    trial.value = undefined
    const body = probeOf(watchOf(address).probe, texts)
    isTrying.value = true
    const result = call<WatchTrial>("POST", `${PATH}/try`, { body }).finally(() => (isTrying.value = false))
    trial.value = { ...(await result), texts }
    return undefined
  }
  return (
    <>
      <NamedTable of={kind} acts={[["Try", attempt]]} onSave={() => (trial.value = undefined)}>
        <StripReader />
        {isTrying.value && <p role="status">Trying, for up to 10 s …</p>}
        {trial.value && <WatchTried {...trial.value} />}
      </NamedTable>
      <PlaceTable places={places} />
    </>
  )
}
