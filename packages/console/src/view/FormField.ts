/** The values of a choice, and how they read. */
export type Options = ReadonlyArray<readonly [value: string, title?: string]>

export interface FieldProps {
  readonly label: string
  /** Texts of the type `password` do not wait for their writer; lines of it are shown. */
  readonly type?: "datetime-local" | "number" | "password"
  readonly min?: number
  readonly max?: number
  readonly maxLength?: number
  readonly required?: boolean
  readonly disabled?: boolean
  readonly placeholder?: string | undefined
  readonly value: string
  readonly onText: (text: string) => void
  /** Whether it takes the room that is left, for long texts. */
  readonly isWide?: boolean
  readonly hasLines?: boolean
  /** Its meaning, below it. */
  readonly hint?: string | undefined
  /** Without these, the field takes any text. */
  readonly options?: Options | undefined
  /** Names of which each has a box; its text has those that are on, with commas between. */
  readonly boxes?: ReadonlyArray<string> | undefined
  /** Whether its text was refused: it gets the focus. */
  readonly isRefused?: boolean
}

export type Texts = Readonly<Record<string, string>>

/** A field of a form, with the text that it begins with. */
export type FormField = Omit<FieldProps, "value" | "onText" | "placeholder" | "hint" | "isRefused"> & {
  readonly initial?: string
  /** Its meaning, which may depend on the fields. */
  readonly hint?: string | ((texts: Texts) => string) | undefined
  /** Whether the texts of the others ask for it; without this, they do. */
  readonly isAsked?: (texts: Texts) => boolean
  /** Whether the form lacks it while it is blank. */
  readonly isNeeded?: ((texts: Texts) => boolean) | undefined
  /** The beginning of the service's refusals of its text, for which its label stands; else its name. */
  readonly refusedAs?: RegExp
  /** Whether few need it: it stands below the others, folded. */
  readonly isRare?: boolean
  /** The text that it has where nothing is set, besides none and its first option. */
  readonly usual?: string
  /** An example, which may depend on the other fields. */
  readonly example?: string | ((texts: Texts) => string | undefined)
}

/** The choices of a field whose value may be another one than these. */
export const withOption = (options: Options, value: string): Options =>
  options.some(([each]) => each === value) ? options : [...options, [value]]
