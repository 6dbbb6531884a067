import { type Signal, useSignal } from "@preact/signals"
import type { PolicyCheck, PolicyInForce } from "@tocsin/client"
import { countText } from "../../format/times.ts"
import { changePolicy } from "../../state/policyActions.ts"
import { itemText, withItem } from "../../state/policyText.ts"
import { Fields } from "../../view/Fields.tsx"
import { ActionButton, bound, CopyText, Fault, Field, QuietButton } from "../../view/forms.tsx"
import { PATH, useCheck, useVersions } from "../../pages/policyEditing.ts"
import { matchOf, NAMED_FIRST, SubjectFields, useAbout } from "../../pages/RouteForm.tsx"

interface Line {
  readonly name: string
  readonly match: ReadonlyArray<string>
}

type CheckedLine = NonNullable<PolicyCheck["lines"]>[number]

const checksText = ({ checks }: CheckedLine) => {
  const names = checks.slice(0, 3).map(({ agent_id, check_id }) => `${agent_id}/${check_id}`)
  const rest = checks.length > names.length ? ", …" : ""
  return checks.length === 0
    ? "no check matches: it shows no data"
    : `${countText(checks.length, "check")}: ${names.join(", ")}${rest}`
}

interface LinesProps {
  readonly lines: Signal<ReadonlyArray<Line>>
  /** The lines as the check of the policy names them. */
  readonly found: ReadonlyArray<CheckedLine>
}

const Lines = ({ found, lines }: LinesProps) => (
  <ul class="plain" aria-label="Lines of the page">
    {lines.value.map((line, place) => (
      <li class="row" key={place}>
        <b>{line.name}</b>
        <span class="subject">{found[place] && checksText(found[place])}</span>
        <QuietButton does={() => (lines.value = lines.value.filter((each) => each !== line))}>
          Leave out
        </QuietButton>
      </li>
    ))}
  </ul>
)

/** Writes a public page without knowing how: its name, its title, and lines with the checks that they match. */
export const PageForm = ({ policy }: { readonly policy: PolicyInForce }) => {
  const [name, title, lineName, about] = [useSignal(""), useSignal(""), useSignal(""), useAbout(NAMED_FIRST)]
  const lines = useSignal<ReadonlyArray<Line>>([])
  const stored = useVersions().value?.stored
  const groups = [{ title: "Services", lines: lines.value }]
  const item = { key: "pages", name: name.value.trim(), value: { title: title.value.trim(), groups } }
  const text = withItem(stored?.text ?? "", item)
  const isWritten = item.name !== "" && item.value.title !== "" && lines.value.length > 0
  const { check, outcome } = useCheck(isWritten ? (text ?? "") : "")
  const found = (check?.lines ?? []).filter(({ page }) => page === item.name)
  const problem = check?.issues[0]
  const matcher = matchOf(about)
  const addLine = () => {
    lines.value = [...lines.value, { name: lineName.value.trim(), match: [matcher] }]
    lineName.value = ""
    about.subject.value = NAMED_FIRST
    about.value.value = ""
  }
  const create = async () => {
    const ifMatch = stored?.hash ?? policy.hash
    if ((await changePolicy("PUT", PATH, { body: text, ifMatch })) === undefined) return undefined
    lines.value = []
    return { text: `Created the page ${item.name}` }
  }
  return (
    <Fields class="route-form" aria-label="New page">
      <div class="form-row">
        <Field label="Name" placeholder="shop" {...bound(name)} />
        <Field label="Title" placeholder="Shop" {...bound(title)} />
      </div>
      <div class="form-row">
        <Field label="Line" placeholder="Checkout" {...bound(lineName)} />
        <SubjectFields about={about} isNamed />
        <button
          type="submit"
          class="quiet"
          disabled={lineName.value.trim() === "" || matcher === ""}
          onClick={addLine}
        >
          Add this line
        </button>
      </div>
      <Lines lines={lines} found={found} />
      {isWritten && text === undefined && (
        <>
          <p>Put this into the policy by hand: its form is another one.</p>
          <CopyText text={itemText(item)} />
        </>
      )}
      <Fault text={problem === undefined ? "" : `${problem.path} ${problem.message}`} />
      <ActionButton kind="main" isDisabled={check === undefined || problem !== undefined} does={create}>
        Create the page
      </ActionButton>{" "}
      <small role="status">{isWritten && problem === undefined && outcome}</small>
    </Fields>
  )
}
