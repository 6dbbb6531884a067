import { page as words } from "@tocsin/contract/languages/en"
import { momentIn, namesOf, timesOf } from "@tocsin/contract/publicPages/announcementTexts"
import type { PublicPageBody } from "@tocsin/contract/publicPages/PublicPages"
import { useEffect, useRef } from "preact/hooks"
import { now } from "../../state/clock.ts"
import type { Texts } from "../../view/FormField.ts"

export type Groups = PublicPageBody["groups"]

/** An announcement that is being written, with its times in the browser's zone. */
export interface Draft {
  readonly texts: Texts
  readonly lines: ReadonlyArray<string>
}

export const timeIn = (text = ""): string | undefined =>
  text === "" ? undefined : new Date(text).toISOString()

interface PreviewProps {
  readonly address: string
  readonly tz: string
  /** Names the announcements that the page shows. */
  readonly shown: string
  /** Whether something is published that the page does not show yet. */
  readonly isAwaited: boolean
  readonly draft: Draft
  readonly groups: Groups
}

/** Puts the announcement into the page as the page itself will show it. */
const showDraft = (page: Document | null | undefined, { draft, groups, tz }: PreviewProps): void => {
  page?.querySelector("article.draft")?.remove()
  const { kind, title = "", text = "", from, to } = draft.texts
  const place = page?.querySelector(".state")
  if (!page || !place || (title === "" && text === "")) return
  const part = (tag: string, className: string, textContent: string) =>
    Object.assign(page.createElement(tag), { className, textContent })
  const moment = momentIn(tz)
  const at = new Date(now.peek()).toISOString()
  const [starts_at, ends_at] = [timeIn(from) ?? at, timeIn(to) ?? null]
  const state = starts_at > at ? "scheduled" : "open"
  const when = [
    timesOf({ starts_at, ends_at, state }, moment, { page: words }),
    ...namesOf(draft, { groups }),
  ]
  const [head, said] = [part("h3", "", title), part("p", "", `\n${text}`)]
  head.prepend(part("b", "", words.kinds[kind as keyof typeof words.kinds]))
  said.prepend(part("time", "", moment(at)))
  const article = part("article", `${kind} draft`, "")
  article.append(head, part("p", "s", when.join(" · ")), said)
  place.after(article)
}

/** The page as its readers see it, with the announcement that is being written. */
export const PagePreview = (props: PreviewProps) => {
  const { address, draft, isAwaited, shown } = props
  const frame = useRef<HTMLIFrameElement>(null)
  // It loads itself again every minute, and here once it has other announcements: then with the draft of that moment.
  const show = useRef(() => undefined as void)
  show.current = () => showDraft(frame.current?.contentDocument, props)
  useEffect(() => show.current(), [draft])
  useEffect(() => frame.current?.contentWindow?.location.reload(), [shown])
  return (
    <div>
      <p role="status">{isAwaited && "Published; the page shows it within 15 s"}</p>
      <iframe ref={frame} title="The page as it will look" src={address} onLoad={() => show.current()} />
    </div>
  )
}
