import { type IntegrationOptions, optionParts, ShownKind } from "./Integrations.ts"

const ofKind = (kind: string): string => `the integration kind ${kind}`
const ofOption = (option: string): string => `the integration option ${option}`

/** Names all that an integration uses: its kind, its options and their parts. */
export const integrationNames = (
  kind: string,
  options: Readonly<Partial<Record<keyof IntegrationOptions, unknown>>>,
): ReadonlyArray<string> => [
  ofKind(kind),
  ...Object.entries(options).flatMap(([option, value]) => [
    ofOption(option),
    ...(typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.keys(value).map((part) => ofOption(`${option}.${part}`))
      : []),
  ]),
]

/** All that integrations may use here. */
export const integrationNamesKnown: ReadonlyArray<string> = [
  ...ShownKind.literals.map(ofKind),
  ...optionParts.map(ofOption),
]
