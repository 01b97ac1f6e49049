// {{name}}: {{about}}.
// `hookrail types` writes the types for the editor beside this file.
import type { HookAPI } from "@f5xc-salesdemos/xcsh/hooks";

export default function (pi: HookAPI): void {
{{body}}}
