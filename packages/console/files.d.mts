/** The page's program and style. */
export declare const files: () => Promise<{
  readonly script: string
  readonly style: string
  readonly scripts: Readonly<Record<string, string>>
  readonly pages: Readonly<Record<string, string>>
  readonly worker: string
  readonly icons: Readonly<Record<string, string>>
}>
