import type { PolicyVersionList } from "@tocsin/client"
import { route, setParameters } from "../state/location.ts"
import { linkTo } from "../state/Route.ts"
import { me } from "../state/session.ts"
import { Difference } from "../view/Difference.tsx"
import { Field, QuietButton } from "../view/forms.tsx"
import { Empty, Missing, ReadingNote, Time } from "../view/states.tsx"
import { useResource } from "../view/usePages.ts"
import { draft, NOTHING, textOfVersion } from "./policyEditing.ts"

/** The stored versions, and how one differs from another. */
export const Versions = ({ items }: PolicyVersionList) => {
  const { against, version: wanted } = route.value.parameters
  const place = wanted === undefined ? 0 : items.findIndex(({ version }) => `${version}` === wanted)
  const one = items[place]
  const other = items.find(({ version }) => `${version}` === against) ?? items[place + 1]
  const texts = useResource(
    `policy versions ${one?.version} ${other?.version}`,
    [],
    () => Promise.all([one, other].map((each) => (each === undefined ? "" : textOfVersion(each.version)))),
    true,
  )
  const [text = "", before = ""] = texts.value ?? []
  const take = () => {
    draft.value = { by: me.value?.name, base: items[0]?.hash ?? "", text }
    setParameters({ tab: "", version: "", against: "" })
  }
  return (
    <>
      {items.length === 0 && <Empty title="No version yet">{NOTHING}</Empty>}
      {items.length > 0 && one === undefined && (
        <Missing what="version" name={wanted} others={linkTo("policy", [], { tab: "versions" })} />
      )}
      {one !== undefined && (
        <>
          <div class="form-row">
            <Field
              label="Version"
              options={items.map(({ applied_by, version }) => [`${version}`, `${version}, by ${applied_by}`])}
              value={`${one.version}`}
              onText={(version) => setParameters({ version, against: "" })}
            />
            <Field
              label="compared with"
              options={other === undefined ? [["", "nothing"]] : items.map(({ version }) => [`${version}`])}
              value={`${other?.version ?? ""}`}
              onText={(version) => setParameters({ against: version })}
            />
            <QuietButton does={take}>{place === 0 ? "Edit it" : "Edit it, to apply it again"}</QuietButton>
          </div>
          <ReadingNote reading={texts} />
          {texts.value !== undefined && (
            <Difference label={`Changes of version ${one.version}`} before={before} after={text} />
          )}
        </>
      )}
      <ul class="plain" aria-label="Versions">
        {items.map(({ applied_at, applied_by, version }, index) => (
          <li class="row version" key={version}>
            <a
              class="main"
              href={linkTo("policy", [], { tab: "versions", version: `${version}` })}
              aria-current={index === place}
            >
              Version {version}
            </a>
            <span class="subject">
              by {applied_by}
              {index === 0 && ", in force"}
            </span>
            <Time at={applied_at} />
          </li>
        ))}
      </ul>
    </>
  )
}
