import { computed, effect, signal, type Signal } from "@preact/signals"
import type { ExpectedCheckState } from "@tocsin/client"
import { type ComponentChildren, Fragment } from "preact"
import { useMemo } from "preact/hooks"
import { type ApiFailure, hintOf, isUnreached, messageOf } from "../api/ApiFailure.ts"
import { exactText, relativeText } from "../format/times.ts"
import { now } from "../state/clock.ts"
import { holdText } from "../state/holdText.ts"
import { refresh } from "../state/revisions.ts"
import { token } from "../state/session.ts"
import { BELL } from "../state/summary.ts"
import { CopyButton, CopyText } from "./copies.tsx"
import { QuietButton } from "./forms.tsx"
import type { Reading } from "./usePages.ts"

interface TimeAfterProps {
  readonly text: string
  readonly at: string | null | undefined
  readonly isAlone?: boolean
}

/** A time after a text such as `, until `; nothing without a time. */
export const TimeAfter = ({ text, at, isAlone = false }: TimeAfterProps) =>
  at === null || at === undefined ? null : (
    <>
      {text}
      <Time at={at} isAlone={isAlone} />
    </>
  )

/**
 * A time relative to now; the exact one shows on hover, and on focus of it or of its row. It is drawn
 * again only when its text changes, not at each tick of the clock.
 */
export const Time = ({ at, isAlone = false }: { readonly at: string; readonly isAlone?: boolean }) => {
  const relative = useMemo(() => computed(() => relativeText(at, now.value)), [at])
  return (
    <time dateTime={at} tabIndex={isAlone ? 0 : undefined}>
      <span class="relative">{relative}</span>
      <span class="unseen"> {exactText(at)}</span>
    </time>
  )
}

const SHAPES: Readonly<Record<string, string>> = {
  critical: "M2 2h12v12H2z",
  warning: "M8 1.5 15.3 14.5H.7z",
  unknown: "M8 .8 15.2 8 8 15.2.8 8z",
  waiting: "M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM8 4.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z",
  active: "M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zm0 2v9a4.5 4.5 0 0 0 0-9z",
  ok: "M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13z",
  /** A crossed line in a disc. */
  withdrawn: "M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM4.5 7v2h7V7z",
  /** An hourglass. */
  late: "M2.5 1.5h11L8.8 8l4.7 6.5h-11L7.2 8z",
}

/** States of other subjects that look like one of a check. */
const MEANS: Readonly<Record<string, string>> = {
  dead: "critical",
  failed: "critical",
  stale: "warning",
  retry: "warning",
  pending: "waiting",
  sending: "waiting",
  scheduled: "waiting",
  past: "waiting",
}

/** How bad a late check is decides its colour. */
export const stateClass = (state: string, severity: string | null = null): string =>
  state === "late" && severity !== null ? `is-late late-${severity}` : `is-${state}`

interface MarkProps {
  readonly state: string
  readonly word?: string
  readonly severity?: string | null
}

/** The word of a state with its shape and colour, so that no one of them is needed alone. */
export const Mark = ({ state, word = state, severity }: MarkProps) => (
  <span class={`mark ${stateClass(state, severity)}`}>
    <svg viewBox="0 0 16 16" width="12" height="12" aria-hidden="true">
      <path d={SHAPES[MEANS[state] ?? state] ?? SHAPES["ok"] ?? ""} />
    </svg>
    {word}
  </span>
)

interface CheckMarkProps extends Pick<ExpectedCheckState, "late_severity" | "state"> {
  /** Whether its agent is stale or dead: then it was ok when last heard, and is not green. */
  readonly isSilent: boolean
}

export const CheckMark = ({ isSilent, late_severity, state }: CheckMarkProps) => (
  <Mark
    state={isSilent && state === "ok" ? "past" : (state ?? "pending")}
    word={state ?? "never reported"}
    severity={late_severity}
  />
)

/** That a silence or a window in force matches a check, in a word. */
export const mutedText = ({
  held_by = [],
}: Partial<Pick<ExpectedCheckState, "held_by">>): string | undefined => held_by[0] && holdText(held_by[0])

export const Muted = (check: Partial<Pick<ExpectedCheckState, "held_by">>) => {
  const text = mutedText(check)
  if (text === undefined) return null
  return (
    <em class="is-held" title={`Notifications wait: ${check.held_by?.map(holdText).join(", ")}`}>
      {text}
    </em>
  )
}

export const Bell = ({ size }: { readonly size: number }) => (
  <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
    <path d={BELL} />
  </svg>
)

type LabelsOf = Readonly<Record<string, string>>

export const Labels = ({ labels = {} }: { readonly labels?: LabelsOf | undefined }) => (
  <>
    {Object.entries(labels).map(([key, value]) => (
      <Fragment key={key}>
        <em class="label">
          {key}={value}
        </em>{" "}
      </Fragment>
    ))}
  </>
)

/** The labels beside a title, which may be one of them. */
export const withoutTitle = ({ title: _, ...others }: LabelsOf = {}): LabelsOf => others

/** Names and what is known of each; one whose value is undefined is left out. */
export const Facts = ({ facts }: { readonly facts: Readonly<Record<string, ComponentChildren>> }) => (
  <dl class="facts-list">
    {Object.entries(facts).map(
      ([name, value]) =>
        value !== undefined && (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ),
    )}
  </dl>
)

export const labelsFact = (labels: LabelsOf = {}): ComponentChildren =>
  Object.keys(labels).length === 0 ? (
    "none"
  ) : (
    <span class="notes">
      <Labels labels={labels} />
    </span>
  )

/** Of a link that leads out of the console. */
export const OUTSIDE = { target: "_blank", rel: "noopener noreferrer" }

interface FailureNoteProps {
  readonly failure: ApiFailure
  /** Takes the note away. Without it, the note is of something that can be read again. */
  readonly close?: () => void
}

/** Why something failed, what to do, and the request's name to copy. */
export const FailureNote = ({ failure, close }: FailureNoteProps) => (
  <div class="failure" role="alert">
    <strong>{messageOf(failure)}</strong>
    <span>{hintOf(failure)}</span>
    {failure.requestId !== undefined && (
      <span class="request">
        Request <code>{failure.requestId}</code> <CopyButton text={failure.requestId} />
      </span>
    )}
    <QuietButton does={close ?? refresh}>{close === undefined ? "Try again" : "Close"}</QuietButton>
  </div>
)

export const Empty = ({
  title,
  children,
}: {
  readonly title: string
  readonly children?: ComponentChildren
}) => (
  <div class="empty">
    <Bell size={28} />
    <p class="title">{title}</p>
    {children !== undefined && <p>{children}</p>}
  </div>
)

interface MissingProps {
  readonly what: string
  readonly name: string | undefined
  /** The address of the others of its kind. */
  readonly others: string
}

/** In place of what an address names and the service does not have. */
export const Missing = ({ what, name, others }: MissingProps) => (
  <Empty title={`No ${what} is called ${name}`}>
    It was deleted, or its address is wrong. <a href={others}>See the others</a>
  </Empty>
)

const Loading = () => (
  <div class="loading" aria-busy="true">
    <span class="unseen">Loading</span>
    {[0, 1, 2, 3, 4].map((row) => (
      <i key={row} />
    ))}
  </div>
)

/** Failures that another program than the server answers. */
const FOREIGN = ["unexpected_answer", "proxy"]

/** A page's note about a read besides its value: nothing while that is current. */
export const ReadingNote = ({ reading: { value, failure } }: { readonly reading: Reading<unknown> }) => {
  if (failure === undefined) return value === undefined ? <Loading /> : null
  if (!isUnreached(failure)) return <FailureNote failure={failure} />
  return value === undefined ? (
    <Empty title="Waiting for the server">
      {FOREIGN.includes(failure.code) ? hintOf(failure) : "This appears as soon as the server answers."}
    </Empty>
  ) : (
    <p class="lead" role="status">
      This is not current: the server does not answer. Trying again.
    </p>
  )
}

export interface Secret {
  readonly title: string
  readonly texts: ReadonlyArray<string>
}

/** A secret that stays, whatever its reader opens meanwhile, until they have copied it or sign out. */
export const keptSecret = (): Signal<Secret | undefined> => {
  const shown = signal<Secret | undefined>(undefined)
  effect(() => {
    if (token.value === "") shown.value = undefined
  })
  return shown
}

export const ShownOnce = ({ of: shown }: { readonly of: Signal<Secret | undefined> }) =>
  shown.value === undefined ? null : (
    <div class="once" role="status">
      <p>
        <b>{shown.value.title}</b>. Copy it now: it is not shown again.
      </p>
      {shown.value.texts.map((text) => (
        <CopyText key={text} text={text} />
      ))}
      <QuietButton does={() => (shown.value = undefined)}>Done</QuietButton>
    </div>
  )
