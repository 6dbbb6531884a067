import { type Signal, useSignal } from "@preact/signals"
import type { Announcement, PolicyInForce } from "@tocsin/client"
import type { PublicPageBody } from "@tocsin/contract/PublicPages"
import { useEffect, useRef } from "preact/hooks"
import { segment } from "../api/request.ts"
import { route } from "../state/location.ts"
import type { Answered } from "../state/Pages.ts"
import { linkTo, toggled } from "../state/Route.ts"
import { base } from "../state/base.ts"
import { call, carryOut, mayAdminister, mayRespond } from "../state/session.ts"
import type { Texts } from "../view/FormField.ts"
import { ActionButton, Box, CopyText, Field, Form } from "../view/forms.tsx"
import { chosen, Tabs } from "../view/navigation.tsx"
import { Empty, Mark, OUTSIDE, ReadingNote, Time, TimeAfter } from "../view/states.tsx"
import { useRead } from "../view/usePages.ts"

const PATH = "ops/v1/announcements"
const MOST_SHOWN = 20

const KINDS = [["incident"], ["maintenance"], ["notice"]] as const

type Lines = PublicPageBody["groups"][number]["lines"]

/** An announcement that is being written. */
interface Draft {
  readonly texts: Texts
  readonly lines: ReadonlyArray<string>
}
const NONE: Draft = { texts: { kind: "incident", title: "", text: "", from: "", to: "" }, lines: [] }

const timeIn = (text = ""): string | undefined => (text === "" ? undefined : new Date(text).toISOString())

/** Puts the announcement into the page as the page itself will show it. */
const showDraft = (page: Document | null | undefined, { texts, lines }: Draft, all: Lines): void => {
  page?.querySelector("article.draft")?.remove()
  const { kind = "", title = "", text = "", from = "", to = "" } = texts
  const place = page?.querySelector(".state")
  if (!page || !place || (title === "" && text === "")) return
  const names = all.filter(({ id }) => lines.includes(id)).map(({ name }) => name)
  const until = to === "" ? "" : ` until ${to.replace("T", " ")}`
  const when = `${from === "" ? "From now on" : `From ${from.replace("T", " ")}`}${until}`
  const about = names.length === 0 ? "" : ` · ${names.join(", ")}`
  const article = page.createElement("article")
  article.className = `${kind} draft`
  for (const [tag, name, content] of [
    ["h3", "", title],
    ["p", "s", when + about],
    ["p", "", text],
  ] as const) {
    const part = page.createElement(tag)
    part.className = name
    part.textContent = content
    article.append(part)
  }
  const word = page.createElement("b")
  word.textContent = kind.slice(0, 1).toUpperCase() + kind.slice(1)
  article.querySelector("h3")?.prepend(word)
  place.after(article)
}

interface PreviewProps {
  readonly address: string
  /** Names the announcements that the page shows. */
  readonly shown: string
  readonly draft: Draft
  readonly lines: Lines
}

/** The page as its readers see it, with the announcement that is being written. */
const Preview = ({ address, draft, lines, shown }: PreviewProps) => {
  const frame = useRef<HTMLIFrameElement>(null)
  // It loads itself again every minute, and here once it has other announcements: then with the draft of that moment.
  const show = useRef(() => undefined as void)
  show.current = () => showDraft(frame.current?.contentDocument, draft, lines)
  useEffect(() => show.current(), [draft])
  useEffect(() => frame.current?.contentWindow?.location.reload(), [shown])
  return <iframe ref={frame} title="The page as it will look" src={address} onLoad={() => show.current()} />
}

interface AnnounceProps {
  readonly page: string
  readonly lines: Lines
  readonly draft: Signal<Draft>
}

/** Writes an announcement, beside the page with it. */
const Announce = ({ page, lines, draft }: AnnounceProps) => {
  const { texts, lines: named } = draft.value
  const { kind = "", title = "", text = "", from, to } = texts
  const field = (name: string, label: string) => ({
    label,
    value: texts[name] ?? "",
    onText: (given: string) => (draft.value = { ...draft.peek(), texts: { ...texts, [name]: given } }),
  })
  const publish = async () => {
    const times = { starts_at: timeIn(from), ends_at: timeIn(to) }
    const body = { page, kind, title: title.trim(), text: text.trim(), lines: named, ...times }
    await call<Announcement>("POST", PATH, { body })
    draft.value = NONE
    return { text: `Announced ${body.title}` }
  }
  return (
    <section class="silence-form" aria-label="New announcement">
      <div class="form-row">
        <Field {...field("kind", "Kind")} options={KINDS} />
        <Field {...field("title", "Title")} isWide />
      </div>
      <Field {...field("text", "Text, for all who read the page")} hasLines />
      <span class="filters" role="group" aria-label="Lines">
        {lines.map(({ id, name }) => (
          <Box
            key={id}
            label={name}
            isOn={named.includes(id)}
            onChange={() => (draft.value = { ...draft.peek(), lines: toggled(named, id) })}
          />
        ))}
      </span>
      <div class="form-row">
        <Field {...field("from", "From (now unless given)")} type="datetime-local" />
        <Field {...field("to", "To (until you end it)")} type="datetime-local" />
        <ActionButton kind="main" isDisabled={title.trim() === "" || text.trim() === ""} does={publish}>
          Announce
        </ActionButton>
      </div>
    </section>
  )
}

/** Adds to an announcement, or ends it. */
const Acts = ({ id, title }: Announcement) => {
  const path = `${PATH}/${segment(id)}`
  return (
    <Form
      fields={{ text: { label: `Update of “${title}”`, isWide: true } }}
      acts={[["Update", (body) => carryOut(`Updated ${title}`, "POST", `${path}/updates`, { body })]]}
    >
      <ActionButton
        kind="danger"
        describes={`End “${title}”`}
        confirms={[`End “${title}” now? It stays on the page for 14 days.`, "End it"]}
        does={() => carryOut(`Ended ${title}`, "POST", `${path}/end`)}
      >
        End
      </ActionButton>
    </Form>
  )
}

const MARKS = { scheduled: "scheduled", open: "active", ended: "past" } as const

const Row = ({ announcement, may }: { readonly announcement: Announcement; readonly may: boolean }) => {
  const { created_by, ends_at, kind, starts_at, state, text, title, updates } = announcement
  return (
    <li class="announcement">
      <p>
        <Mark state={MARKS[state]} word={state} /> <b>{title}</b>{" "}
        <small>
          {kind}, <Time at={starts_at} />
          <TimeAfter text=", until " at={ends_at} />, by {created_by}
        </small>
      </p>
      <p class="said">{text}</p>
      {updates.map((update) => (
        <p class="said" key={update.at}>
          <small>
            <Time at={update.at} />, {update.by}
          </small>{" "}
          {update.text}
        </p>
      ))}
      {may && state !== "ended" && <Acts {...announcement} />}
    </li>
  )
}

type PageOfPolicy = NonNullable<PolicyInForce["policy"]["pages"]>[string]

const PublicPage = ({ name, page }: { readonly name: string; readonly page: PageOfPolicy }) => {
  const address = `${base}status/${name}`
  const { value: body } = useRead<PublicPageBody>(`status/${name}.json`, {}, ["policy", "announcements"])
  const reading = useRead<Answered<Announcement>>(PATH, { page: name, limit: MOST_SHOWN })
  const draft = useSignal(NONE)
  const items = reading.value?.items ?? []
  const lines = body?.groups.flatMap((group) => group.lines) ?? []
  const may = mayAdminister.value || (mayRespond.value && page.announce === "respond")
  return (
    <>
      <p>
        <a href={address} {...OUTSIDE}>
          {address}
        </a>
        {" · "}
        <a href={`${address}.json`}>JSON</a>
        {" · "}
        <a href={`${address}.atom`} title="With SERVICE_PUBLIC_URL">
          Feed
        </a>
        {" · "}
        <a href={linkTo("policy")}>Its lines are in the policy</a>
      </p>
      <details>
        <summary>Badge, as Markdown</summary>
        <CopyText text={`[![${page.title}](${address}/badge.svg)](${address})`} />
      </details>
      <div class="announcing">
        <div>
          <h2>Announce</h2>
          {may ? (
            <Announce page={name} lines={lines} draft={draft} />
          ) : (
            <p class="lead">
              Only administrators{page.announce === "respond" && " and responders"} announce on this page.
            </p>
          )}
          <h2>Announcements</h2>
          <ReadingNote reading={reading} />
          {reading.value !== undefined && items.length === 0 && <p class="lead">None yet.</p>}
          <ul class="plain" aria-label="Announcements">
            {items.map((each) => (
              <Row key={each.id} announcement={each} may={may} />
            ))}
          </ul>
        </div>
        <Preview
          shown={JSON.stringify(
            body?.announcements.map(({ id, state, updates }) => [id, state, updates.length]),
          )}
          address={address}
          draft={draft.value}
          lines={lines}
        />
      </div>
    </>
  )
}

const EXAMPLE = `pages:
  shop:
    title: Shop
    groups:
      - { title: Services, lines: [{ name: Checkout, match: ["label:service = checkout"] }] }`

/** Without a page: what one is, and how to write it. */
const NoPage = () => (
  <>
    <Empty title="No public page yet">
      A page shows everyone how your services are, without a token: each line has the worst state of the
      checks that it matches.
    </Empty>
    <p>These lines are a page of one service:</p>
    <CopyText text={EXAMPLE} />
    <p>
      Add them to <a href={linkTo("policy")}>the policy</a>, with the matchers of your checks.{" "}
      <a href={`${base}console/policy.md`}>All that a page can say</a>
    </p>
  </>
)

export const PublicPages = () => {
  const reading = useRead<PolicyInForce>("ops/v1/policy")
  const all = Object.entries(reading.value?.policy.pages ?? {})
  const [first, ...others] = all.map(([name, { title }]) => [name, title] as const)
  const current = first && chosen([first, ...others], route.value.parameters["page"])[0]
  const [, page] = all.find(([name]) => name === current) ?? []
  return (
    <>
      <h1>Pages</h1>
      <ReadingNote reading={reading} />
      {reading.value !== undefined && current === undefined && <NoPage />}
      {current !== undefined && page !== undefined && first !== undefined && (
        <>
          <Tabs label="Pages" parameter="page" tabs={[first, ...others]} current={current} />
          <PublicPage key={current} name={current} page={page} />
        </>
      )}
    </>
  )
}
