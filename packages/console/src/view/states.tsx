import type { ComponentChildren } from "preact"
import { type ApiFailure, hintOf, isUnreached, messageOf } from "../api/ApiFailure.ts"
import { refresh } from "../state/revisions.ts"
import type { Reading } from "../state/useResource.ts"
import { CopyButton, QuietButton } from "./buttons.tsx"
import { Bell } from "./marks.tsx"

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

interface EmptyProps {
  readonly title: string
  readonly children?: ComponentChildren
}

/** A list or a page without contents, and why that is. */
export const Empty = ({ title, children }: EmptyProps) => (
  <div class="empty">
    <Bell size={36} />
    <p class="title">{title}</p>
    {children !== undefined && <p>{children}</p>}
  </div>
)

/** Rows that are on their way. */
const Loading = () => (
  <div class="loading" aria-busy="true">
    <span class="unseen">Loading</span>
    {[0, 1, 2, 3, 4].map((row) => (
      <i key={row} />
    ))}
  </div>
)

/** A page's note about a read besides its value: nothing while that is current. */
export const ReadingNote = ({ reading: { value, failure } }: { readonly reading: Reading<unknown> }) => {
  if (failure === undefined) return value === undefined ? <Loading /> : null
  if (!isUnreached(failure)) return <FailureNote failure={failure} />
  return value === undefined ? (
    <Empty title="Waiting for the server">
      {failure.code === "unexpected_answer" ? hintOf(failure) : "This appears as soon as the server answers."}
    </Empty>
  ) : (
    <p class="lead" role="status">
      This is not current: the server does not answer. Trying again.
    </p>
  )
}
