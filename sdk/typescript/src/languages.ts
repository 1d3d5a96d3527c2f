/* The languages of include/glovebox/languages.h, each name followed by its aliases. */

export const LANGUAGES = [
  ...(['typescript', 'ts'] as const),
  ...(['javascript', 'js'] as const),
  ...(['python', 'py', 'python3'] as const),
  ...(['shell', 'sh', 'bash'] as const),
  ...(['node', 'nodejs'] as const),
  ...(['deno'] as const),
] as const;

/** What code is written in: a name, or an alias such as `'ts'` or `'bash'`. */
export type Language = (typeof LANGUAGES)[number];
