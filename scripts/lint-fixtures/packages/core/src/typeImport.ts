// refused: typescript(consistent-type-imports) `import()` type annotations are forbidden
export type Refused = import("@tocsin/adapter-sqlite/SqliteStorage").Settings
