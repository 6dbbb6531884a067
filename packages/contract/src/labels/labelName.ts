/** The name of a label in metrics of checks: `env.name` is `label_env_name`. */
export const labelName = (key: string): string => `label_${key.replaceAll(/[^A-Za-z0-9_]/g, "_")}`
