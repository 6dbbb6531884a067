import type { Labels } from "@tocsin/contract/labels/Labels"
import { LONGEST_TITLE } from "@tocsin/contract/titles/Titles"

/** The titles of a check or an agent beside the one that its sender's labels have (docs/rules.md#titles). */
export interface Titles {
  /** An operator's. */
  readonly title?: string | undefined
  /** The title of its watch or integration; an alert has the title that its labels make. */
  readonly given_title?: string | undefined
}

interface Titled extends Titles {
  /** Those that matchers compare: with the title that is shown. */
  readonly labels?: Labels | undefined
  /** The label `title` of its sender, where another is shown. */
  readonly declared_title?: string | undefined
}

/** The title that labels have: cut, and none that is blank. */
export const titleOf = (labels: Labels | undefined): string | undefined => {
  const title = Array.from((labels?.["title"] ?? "").trim()).slice(0, LONGEST_TITLE)
  return title.length === 0 ? undefined : title.join("")
}

const isTitled = ({ given_title, title }: Titles): boolean => (title ?? given_title) !== undefined

/** The columns of the labels that a sender gave, and of the titles beside them. */
export const titled = (declared: Labels | undefined, { given_title, title }: Titles): Required<Titled> => {
  const own = declared?.["title"]
  const shown = title ?? given_title ?? titleOf(declared)
  if (!isTitled({ given_title, title }) && shown === own)
    return { labels: declared, title, given_title, declared_title: undefined }
  const { title: _, ...others } = declared ?? {}
  const labels = shown === undefined ? others : { ...others, title: shown }
  return { labels, title, given_title, declared_title: own }
}

/** The labels that a sender gave. */
export const declaredLabels = (row: Titled): Labels | undefined => {
  const { declared_title, labels } = row
  if (labels === undefined || (declared_title === undefined && !isTitled(row))) return labels
  const { title: _, ...others } = labels
  const declared = declared_title === undefined ? others : { ...others, title: declared_title }
  return Object.keys(declared).length === 0 ? undefined : declared
}
