// {{name}}: {{about}}.

/** @param {import("@f5xc-salesdemos/xcsh/hooks").HookAPI} pi */
export default function (pi) {
{{body}}}
