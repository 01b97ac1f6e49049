// Generates patterns, asks Node and the matcher the same questions, and prints where they differ. Run by matcher-vs-node.
import { spawnSync } from "node:child_process";
import vm from "node:vm";

const [program, count, seed] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];

let state = BigInt(seed) * 0x9e3779b97f4a7c15n | 1n;
function below(limit) {
  state ^= (state << 13n) & 0xffffffffffffffffn;
  state ^= state >> 7n;
  state ^= (state << 17n) & 0xffffffffffffffffn;
  return Number(state % BigInt(limit));
}
const pick = (list) => list[below(list.length)];

const ATOMS = [
  "a", "b", "c", "_", "-", "0", "1", "é", "K", "ſ", "😀", ".", "\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "\\b", "\\B", "^", "$", "\\.", "\\-",
  "\\x61", "\\u0062", "\\cA", "\\0", "\\t", "\\1", "\\2", "\\k<n>", "\\8", "\\e", "[ab]", "[^a]", "[a-c]", "[\\d_]", "[^\\W]", "[a\\-]", "[]", "[^]",
  "[\\b]", "[a-]", "{", "}", "]", "{1", "a{,2}", "\\u{61}", "\\p{L}", "\\/",
];
const QUANTIFIERS = ["", "", "", "", "*", "+", "?", "{2}", "{1,2}", "{0,}", "*?", "+?", "??", "{1,3}?"];

function pattern(depth) {
  const parts = [];
  for (let i = below(4) + 1; i > 0; i--) {
    let atom = pick(ATOMS);
    if (depth > 0 && below(3) === 0) {
      const inner = pattern(depth - 1);
      atom = pick([`(${inner})`, `(?:${inner})`, `(?=${inner})`, `(?!${inner})`, `(?<=${inner})`, `(?<!${inner})`, `(?<n>${inner})`]);
    }
    parts.push(atom + pick(QUANTIFIERS));
  }
  if (below(4) === 0) parts.splice(below(parts.length + 1), 0, "|");
  return parts.join("");
}

const LETTERS = ["a", "b", "c", "_", "-", "0", "1", "A", "é", "K", " ", "\n", ".", "{", "}", "]", "😀", "\u2028", "x", "1a"];
function subject() {
  let text = "";
  for (let i = below(9); i > 0; i--) text += pick(LETTERS);
  return text;
}

// In a context of its own, because only there a pattern that takes for ever can be ended.
const context = vm.createContext({});
const ask = new vm.Script("(() => { const r = new RegExp(pattern); return subjects.map(s => r.test(s)); })()");

const questions = [];
const expected = [];
for (let i = 0; i < count; i++) {
  // The matcher takes blanks around a pattern away, which Node does not.
  const question = { pattern: pattern(2).trim() || "a", subjects: [subject(), subject(), subject(), "write_file"] };
  questions.push(question);
  Object.assign(context, question);
  try {
    expected.push({ valid: true, matches: ask.runInContext(context, { timeout: 500 }) });
  } catch (error) {
    if (error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") expected.push(null);
    else expected.push({ valid: false });
  }
}
const ran = spawnSync(program, { input: questions.map((question) => JSON.stringify(question) + "\n").join(""), maxBuffer: 1 << 30 });
if (ran.status !== 0) throw new Error(`the matcher ended with ${ran.status ?? ran.signal}: ${ran.stderr}`);
const answers = ran.stdout.toString().trimEnd().split("\n").map((line) => JSON.parse(line));

let compared = 0, differences = 0, unknown = 0, invalid = 0;
questions.forEach((question, at) => {
  const [node, ours] = [expected[at], answers[at]];
  if (node === null) return;
  if (!node.valid) invalid++;
  if (node.valid !== ours.valid) {
    differences++;
    console.log(`${JSON.stringify(question.pattern)}: ${node.valid ? "valid in Node and not here" : "valid here and not in Node"}`);
    return;
  }
  if (!node.valid) return;
  question.subjects.forEach((text, index) => {
    const verdict = ours.matches[index];
    if (verdict === null) unknown++;
    else if (verdict !== node.matches[index]) {
      differences++;
      console.log(`${JSON.stringify(question.pattern)} on ${JSON.stringify(text)}: Node says ${node.matches[index]}`);
    } else compared++;
  });
});
console.log(`${count} patterns with seed ${seed}: ${compared} verdicts agree, ${invalid} patterns are invalid in both, ` +
  `${unknown} verdicts reached the step limit, ${differences} differences`);
process.exit(differences === 0 ? 0 : 1);
