import type { Signal } from "@preact/signals"
import type { Announcement, PolicyInForce } from "@tocsin/client"
import { page as words } from "@tocsin/contract/languages/en"
import { isCalledOff } from "@tocsin/contract/publicPages/announcementTexts"
import type { PublicPageBody, ShownAnnouncement } from "@tocsin/contract/publicPages/PublicPages"
import { segment } from "../../api/request.ts"
import { ZONE } from "../../format/times.ts"
import { useDraft } from "../../state/drafts.ts"
import { route } from "../../state/location.ts"
import type { Answered } from "../../state/Pages.ts"
import { linkTo, toggled } from "../../state/Route.ts"
import { base } from "../../state/base.ts"
import { carryOut, mayAdminister, mayRespond } from "../../state/session.ts"
import { confirmed } from "../../state/useAction.ts"
import { Fields } from "../../view/Fields.tsx"
import type { Texts } from "../../view/FormField.ts"
import { Box } from "../../view/boxes.tsx"
import { CopyText } from "../../view/copies.tsx"
import { ActionButton, Field, Form } from "../../view/forms.tsx"
import { Tabs } from "../../view/navigation.tsx"
import { type Draft, type Groups, PagePreview, timeIn } from "./PagePreview.tsx"
import type { PolicyPage } from "./LineForm.tsx"
import { FormButton } from "../../pages/PolicyForm.tsx"
import { useMatched } from "../../view/matched.ts"
import { LineForm } from "./LineForm.tsx"
import { PageForm } from "./PageForm.tsx"
import { StillHere } from "../../view/StillHere.tsx"
import { Empty, Mark, Missing, OUTSIDE, ReadingNote, Time, TimeAfter } from "../../view/states.tsx"
import { useRead } from "../../view/usePages.ts"

const PATH = "ops/v1/announcements"
const MOST_SHOWN = 20

const NONE: Draft = { texts: { kind: "incident", title: "", text: "", from: "", to: "" }, lines: [] }

interface AnnounceProps {
  readonly page: string
  readonly tz: string
  readonly groups: Groups
  readonly draft: Signal<Draft>
}

const Announce = ({ page, groups, draft, tz }: AnnounceProps) => {
  const { texts, lines } = draft.value
  const { kind = "", title = "", text = "", from, to } = texts
  const field = (name: string, label: string) => ({
    label,
    value: texts[name] ?? "",
    onText: (given: string) => (draft.value = { ...draft.peek(), texts: { ...texts, [name]: given } }),
  })
  /** A time in the browser's zone, with the page's where that is another one. */
  const time = (name: string, label: string, otherwise: string) => {
    const hint = `${otherwise}; the page has ${tz}`
    return { ...field(name, `${label}, ${ZONE}`), hint, type: "datetime-local" } as const
  }
  const publish = async () => {
    const times = { starts_at: timeIn(from), ends_at: timeIn(to) }
    const body = { page, kind, title: title.trim(), text: text.trim(), lines, ...times }
    const done = await carryOut(`Announced ${body.title}`, "POST", PATH, { body })
    draft.value = NONE
    return done
  }
  return (
    <Fields class="act-form" aria-label="New announcement">
      <div class="form-row">
        <Field {...field("kind", "Kind")} options={Object.entries(words.kinds)} />
        <Field {...field("title", "Title")} isWide />
      </div>
      <small>A maintenance puts its lines into maintenance while open. An incident changes no line.</small>
      <Field {...field("text", "Text, for all who read the page")} hasLines />
      <div class="filters" role="group" aria-label="Lines">
        Lines:
        {groups.flatMap((group) =>
          group.lines.map(({ id, name }) => (
            <Box
              key={id}
              label={name}
              isOn={lines.includes(id)}
              onChange={() => (draft.value = { ...draft.peek(), lines: toggled(lines, id) })}
            />
          )),
        )}
      </div>
      <StillHere form={`announce ${page}`} discards={() => (draft.value = NONE)} />
      <div class="form-row">
        <Field {...time("from", "From", "Now unless given")} />
        <Field {...time("to", "To", "Until you end it")} />
        <ActionButton kind="main" isDisabled={title.trim() === "" || text.trim() === ""} does={publish}>
          Announce
        </ActionButton>
      </div>
    </Fields>
  )
}

/** Adds to an announcement, or ends it: with the update that is written, if there is one. */
const Acts = ({ id, state, title }: Announcement) => {
  const path = `${PATH}/${segment(id)}`
  const end = state === "scheduled" ? "Call off" : "End"
  const update = (text: string) => carryOut(`Updated ${title}`, "POST", `${path}/updates`, { body: { text } })
  const finish = async ({ text = "" }: Texts) => {
    const first = text === "" ? "" : "Your update is sent. "
    if (!(await confirmed(`${end} “${title}” now? ${first}It stays on the page for 14 days.`, end)))
      return undefined
    if (text !== "") await update(text)
    return carryOut(`${state === "scheduled" ? "Called off" : "Ended"} ${title}`, "POST", `${path}/end`)
  }
  return (
    <details>
      <summary>Update or {end.toLowerCase()}</summary>
      <Form
        keptAs={id}
        fields={{ text: { label: `Update of “${title}”`, isWide: true, hasLines: true } }}
        acts={[
          ["Update", ({ text = "" }) => update(text)],
          [end, finish, "danger"],
        ]}
      />
    </details>
  )
}

const MARKS = { scheduled: "scheduled", open: "active", ended: "past" } as const

const Row = ({ announcement, may }: { readonly announcement: Announcement; readonly may: boolean }) => {
  const { created_by, ends_at, kind, starts_at, state, text, title, updates } = announcement
  const isOff = isCalledOff(announcement)
  return (
    <li class="announcement">
      <p>
        <Mark state={MARKS[state]} word={isOff ? "called off" : state} /> <b>{title}</b>{" "}
        <small>
          {kind} by {created_by}, <Time at={(isOff && ends_at) || starts_at} />
          {!isOff && <TimeAfter text=", until " at={ends_at} />}
        </small>
      </p>
      <p class="announced">{text}</p>
      {updates.map((update) => (
        <p class="announced" key={update.at}>
          <small>
            <Time at={update.at} />, {update.by}
          </small>
          {update.text}
        </p>
      ))}
      {may && state !== "ended" && <Acts {...announcement} />}
    </li>
  )
}

/** In the order of the page. */
const STATES = ["open", "scheduled", "ended"]

/** An announcement as far as it changes. */
const versionOf = ({ id, state, updates }: Announcement | ShownAnnouncement): string =>
  `${id} ${state} ${updates.length}`

interface PageProps {
  readonly name: string
  readonly page: PolicyPage
}

const Lines = ({ name, page: { groups } }: PageProps) => {
  const textOf = useMatched(groups.flatMap(({ lines }) => lines.map(({ match }) => match)))
  return (
    <>
      <h2>Lines</h2>
      <ul class="plain" aria-label="Lines of the page">
        {groups.flatMap(({ lines, title }, group) =>
          lines.map((line, place) => (
            <li class="row" key={`${group} ${place}`}>
              <b>{line.name}</b>
              <span class="subject">
                {groups.length > 1 && `${title}: `}
                {textOf(line.match)}
              </span>
              <FormButton
                of={LineForm}
                label="Change"
                describes={`Change ${line.name}`}
                path={["pages", name, "groups", String(group), "lines", String(place)]}
              />
            </li>
          )),
        )}
      </ul>
      <p class="after">
        <FormButton of={LineForm} label="Add a line" path={["pages", name]} />
      </p>
    </>
  )
}

const PublicPage = ({ name, page }: PageProps) => {
  const address = `${base}status/${name}`
  const { value: body } = useRead<PublicPageBody>(`status/${name}.json`, {}, ["policy", "announcements"])
  const reading = useRead<Answered<Announcement>>(PATH, { page: name, limit: MOST_SHOWN })
  const draft = useDraft(`announce ${name}`, "", NONE)
  const items = (reading.value?.items ?? []).toSorted(
    (a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state),
  )
  const shown = String(body?.announcements.map(versionOf))
  // One that has ended leaves the page in time.
  const isAwaited = (each: Announcement): boolean =>
    !shown.includes(versionOf(each)) && (each.state !== "ended" || shown.includes(each.id))
  const { tz = "UTC" } = page
  const { groups = [] } = body ?? {}
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
      <Lines name={name} page={page} />
      <div class="announcing">
        <div>
          <h2>Announce</h2>
          {may ? (
            <Announce page={name} tz={tz} groups={groups} draft={draft} />
          ) : (
            <p class="lead">
              Only administrators{page.announce === "respond" && " and responders"} announce on this page.
            </p>
          )}
        </div>
        <PagePreview
          shown={shown}
          isAwaited={body !== undefined && items.some(isAwaited)}
          address={address}
          tz={tz}
          draft={draft.value}
          groups={groups}
        />
        <div>
          <h2>Announcements</h2>
          <ReadingNote reading={reading} />
          {reading.value !== undefined && items.length === 0 && <p class="lead">None yet.</p>}
          <ul class="plain" aria-label="Announcements">
            {items.map((each) => (
              <Row key={each.id} announcement={each} may={may} />
            ))}
          </ul>
        </div>
      </div>
    </>
  )
}

export const PublicPages = () => {
  const reading = useRead<PolicyInForce>("ops/v1/policy")
  const pages = Object.entries(reading.value?.policy.pages ?? {})
  const wanted = route.value.parameters["page"]
  const [name, page] = pages.find(([each]) => each === wanted || wanted === undefined) ?? []
  return (
    <>
      <ReadingNote reading={reading} />
      {reading.value !== undefined && pages.length === 0 && (
        <Empty title="No public page yet">
          A page shows everyone how your services are, without a token: each line has the worst state of the
          checks that it matches.
        </Empty>
      )}
      {pages.length > 0 && (
        <Tabs
          label="Pages"
          parameter="page"
          tabs={pages.map(([each, { title }]) => [each, title])}
          current={name ?? ""}
        />
      )}
      {pages.length > 0 && name === undefined && (
        <Missing what="public page" name={wanted} others={linkTo("pages")} />
      )}
      {name !== undefined && page !== undefined && <PublicPage key={name} name={name} page={page} />}
      <p class="after">
        <FormButton of={PageForm} label="New page" />
      </p>
      <p>
        <a href={`${base}console/policy.md`}>All that a page can say</a>, such as groups and a time zone, is
        in <a href={linkTo("policy")}>the policy</a>.
      </p>
    </>
  )
}
