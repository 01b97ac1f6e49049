//! Modules of the kinds that the users of the original agents publish and share, each with the calls that those make and
//! with what such a module promises. Kinds that an example in `examples/modules` shows are in the tests of these.

use serde_json::{Value, json};

use crate::screen::Screen;
use crate::world::{Shows as _, World, one_call, says, turns};

const ESCAPE: &str = "\x1b";

/// A world with a TypeScript module of this source.
fn module(source: &str, script: Value) -> World {
    let world = World::new(script);
    world.write(".xcsh/hooks/sample.ts", source);
    world
}

fn git(world: &World, args: &[&str]) -> String {
    let ran = std::process::Command::new("git").current_dir(&world.project).args(args).output().unwrap();
    assert!(ran.status.success(), "{args:?}: {ran:?}");
    String::from_utf8(ran.stdout).unwrap()
}

/// Makes the project a repository with one commit, in which everything is as it is now.
fn repository(world: &World) {
    git(world, &["init", "--quiet"]);
    git(world, &["config", "user.name", "n"]);
    git(world, &["config", "user.email", "e@example.org"]);
    world.write("a.txt", "first");
    git(world, &["add", "--all"]);
    git(world, &["commit", "--quiet", "--message", "first"]);
}

fn session(world: &World) -> Vec<Value> {
    let text = std::fs::read_to_string(world.sessions().last().unwrap()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn shell(command: &str, expect: Value) -> Value {
    one_call("run_shell_command", json!({"command": command}), expect)
}

const ASKS_BEFORE_RISKY_COMMANDS: &str = r#"
import type { HookAPI } from "@f5xc-salesdemos/xcsh/hooks";
const RISKY = [/\brm\s+(-rf?|--recursive)/i, /\bsudo\b/i, /\b(chmod|chown)\b.*777/i];
export default function (pi: HookAPI) {
	pi.on("tool_call", async (event, ctx) => {
		if (event.toolName !== "bash") return undefined;
		const command = event.input.command as string;
		if (!RISKY.some(pattern => pattern.test(command))) return undefined;
		if (!ctx.hasUI) return { block: true, reason: "a risky command, and no user to ask" };
		const choice = await ctx.ui.select(`Run this?\n\n  ${command}`, ["Yes", "No"]);
		return choice === "Yes" ? undefined : { block: true, reason: "the user said no" };
	});
}"#;

#[test]
fn a_gate_asks_before_risky_commands_and_blocks_without_a_user() {
    let risky = "touch ran; chmod 777 ran";
    let world = module(
        ASKS_BEFORE_RISKY_COMMANDS,
        shell(
            risky,
            json!({"contains": ["denied by hook `.xcsh/hooks/sample.ts`: a risky command, and no user to ask"]}),
        ),
    );
    let ran = world.say("go").ends_with(0);
    assert_eq!(ran.texts("tool_result", "end"), ["denied"], "{}", ran.stdout);
    world.script(shell("touch harmless", json!({})));
    assert_eq!(world.say("go").ends_with(0).texts("tool_result", "end"), ["ran"]);

    for (key, runs) in [("2\r", false), ("1\r", true)] {
        world.script(shell(risky, json!({})));
        let mut screen = Screen::start(&world, &[]);
        screen.line("go");
        screen.sees("Run this?");
        screen.asks("number:");
        screen.keys(key);
        screen.sees("done");
        screen.exit();
        assert_eq!(world.exists("ran"), runs, "{key:?}");
    }
}

#[test]
fn a_guard_of_paths_blocks_writes_and_tells_the_user() {
    let source = r#"
export default function (pi: any) {
	const guarded = [".env", ".git/", "node_modules/"];
	pi.on("tool_call", async (event: any, ctx: any) => {
		if (event.toolName !== "write" && event.toolName !== "edit") return undefined;
		const path = event.input.path as string;
		if (!guarded.some(part => path.includes(part))) return undefined;
		if (ctx.hasUI) ctx.ui.notify(`kept away from ${path}`, "warning");
		return { block: true, reason: `"${path}" is protected` };
	});
}"#;
    let calls = json!([
        {"name": "write_file", "args": {"path": ".env", "content": "x"}},
        {"name": "replace", "args": {"path": "node_modules/a.js", "old_string": "x", "new_string": "y"}},
        {"name": "write_file", "args": {"path": "src.txt", "content": "x"}}
    ]);
    let script = || turns(json!([{"calls": calls}, {"text": "done"}]));
    let world = module(source, script());
    world.write("node_modules/a.js", "x");
    let ran = world.say("go").ends_with(0);
    assert_eq!(ran.texts("tool_result", "end"), ["denied", "denied", "ran"], "{}", ran.stdout);
    assert!(!world.exists(".env") && world.exists("src.txt"));
    assert_eq!(world.read("node_modules/a.js"), "x");
    world.script(script());
    let mut screen = Screen::start(&world, &[]);
    screen.line("go");
    screen.sees("kept away from .env");
    screen.sees("done");
    screen.exit();
}

#[test]
fn a_guard_of_sessions_asks_before_they_are_left() {
    let world = module(
        r#"
export default function (pi: any) {
	pi.on("session_before_switch", async (event: any, ctx: any) => {
		if (!ctx.hasUI) return;
		if (event.reason === "new") {
			const sure = await ctx.ui.confirm("Leave this session?", "Its messages are not shown any more.");
			if (!sure) {
				ctx.ui.notify("stayed here", "info");
				return { cancel: true };
			}
			return;
		}
		const work = ctx.sessionManager.getEntries().some((entry: any) => entry.type === "message" && entry.message.role === "user");
		if (work && !(await ctx.ui.confirm("Switch the session?", "There is work in this one."))) return { cancel: true };
	});
	pi.on("session_before_branch", async (event: any, ctx: any) => {
		if (!ctx.hasUI) return;
		const choice = await ctx.ui.select(`Branch from ${event.entryId}?`, ["Yes, branch", "No, stay"]);
		if (choice !== "Yes, branch") return { cancel: true };
	});
}"#,
        turns(json!([{"text": "one"}])),
    );
    let mut screen = Screen::start(&world, &[]);
    screen.line("hello");
    screen.sees("one");
    screen.line("/clear");
    screen.sees("Leave this session?");
    screen.asks("[y/N]");
    screen.keys("n\r");
    screen.sees("stayed here");
    let prompt = session(&world).iter().find(|entry| entry["message"]["role"] == "user").unwrap()["id"].clone();
    screen.line(&format!("/branch {}", prompt.as_str().unwrap()));
    screen.sees("Branch from");
    screen.asks("number:");
    screen.keys("2\r");
    screen.sees("a hook cancelled this");
    assert_eq!(world.sessions().len(), 1, "the session was not left");
    screen.line("/clear");
    screen.asks("[y/N]");
    screen.keys("y\r");
    screen.asks(">");
    screen.exit();
    assert_eq!(world.sessions().len(), 2);
}

#[test]
fn a_guard_of_the_repository_keeps_a_session_with_uncommitted_changes() {
    let world = module(
        r#"
async function clean(pi: any, ctx: any, action: string) {
	const { stdout, code } = await pi.exec("git", ["status", "--porcelain"]);
	if (code !== 0 || !stdout.trim()) return;
	if (!ctx.hasUI) return { cancel: true };
	const files = stdout.trim().split("\n").filter(Boolean).length;
	const choice = await ctx.ui.select(`${files} uncommitted. ${action} anyway?`, ["Yes, anyway", "No, I commit first"]);
	if (choice !== "Yes, anyway") {
		ctx.ui.notify("commit first", "warning");
		return { cancel: true };
	}
}
export default function (pi: any) {
	pi.on("session_before_switch", (event: any, ctx: any) => clean(pi, ctx, event.reason === "new" ? "new session" : "switch"));
	pi.on("session_before_branch", (_event: any, ctx: any) => clean(pi, ctx, "branch"));
}"#,
        turns(json!([{"text": "one"}])),
    );
    repository(&world);
    world.write("a.txt", "changed");
    let ran = world.lines(&[], &["hello", "/clear"]).ends_with(0);
    assert_eq!(world.sessions().len(), 1, "{}", ran.stdout);
    world.script(turns(json!([{"text": "one"}])));
    let mut screen = Screen::start(&world, &[]);
    screen.line("/clear");
    screen.sees("1 uncommitted. new session anyway?");
    screen.asks("number:");
    screen.keys("2\r");
    screen.sees("commit first");
    screen.exit();
    git(&world, &["commit", "--quiet", "--all", "--message", "second"]);
    let before = world.sessions().len();
    world.lines(&[], &["/clear"]).ends_with(0);
    assert_eq!(world.sessions().len(), before + 2, "nothing is in the way of a clean tree");
}

#[test]
fn what_was_done_is_committed_once_when_the_agent_ends() {
    let world = module(
        r#"
export default function (pi: any) {
	pi.on("session_shutdown", async (_event: any, ctx: any) => {
		const { stdout: status, code } = await pi.exec("git", ["status", "--porcelain"]);
		if (code !== 0 || status.trim().length === 0) return;
		const entries = ctx.sessionManager.getEntries();
		let said = "";
		for (let at = entries.length - 1; at >= 0; at--) {
			const entry = entries[at];
			if (entry.type !== "message" || entry.message.role !== "assistant") continue;
			said = entry.message.content.filter((part: any) => part.type === "text").map((part: any) => part.text).join("\n");
			break;
		}
		const line = said.split("\n")[0] || "work in progress";
		await pi.exec("git", ["add", "--all"]);
		const { code: committed } = await pi.exec("git", ["commit", "--message", `agent: ${line.slice(0, 50)}`]);
		if (committed === 0 && ctx.hasUI) ctx.ui.notify("committed", "info");
	});
}"#,
        turns(json!([
            {"calls": [{"name": "write_file", "args": {"path": "b.txt", "content": "x"}}]},
            {"text": "wrote the first file\nand more"},
            {"calls": [{"name": "write_file", "args": {"path": "c.txt", "content": "x"}}]},
            {"text": "wrote the second file"}
        ])),
    );
    repository(&world);
    world.lines(&[], &["first", "/compact", "/clear", "second"]).ends_with(0);
    let subjects = git(&world, &["log", "--format=%s"]);
    assert_eq!(subjects, "agent: wrote the second file\nfirst\n", "one commit, at the end");
    assert_eq!(git(&world, &["status", "--porcelain"]), "");
}

#[test]
fn checkpoints_are_made_at_every_turn_and_dropped_when_the_work_is_done() {
    let world = module(
        r#"
export default function (pi: any) {
	const checkpoints = new Map<string, string>();
	let entry: string | undefined;
	pi.on("tool_result", async (_event: any, ctx: any) => {
		const leaf = ctx.sessionManager.getLeafEntry();
		if (leaf) entry = leaf.id;
	});
	pi.on("turn_start", async () => {
		const { stdout } = await pi.exec("git", ["stash", "create"]);
		const made = stdout.trim();
		if (made && entry) checkpoints.set(entry, made);
	});
	pi.on("session_before_branch", async (event: any, ctx: any) => {
		const made = checkpoints.get(event.entryId);
		if (!made || !ctx.hasUI) return;
		const choice = await ctx.ui.select("Restore the code?", ["Yes", "No"]);
		if (choice?.startsWith("Yes")) await pi.exec("git", ["stash", "apply", made]);
	});
	pi.on("agent_end", async (_event: any, ctx: any) => {
		ctx.ui.notify(`${checkpoints.size} checkpoints of ${[...checkpoints.keys()].join()}`);
		checkpoints.clear();
	});
}"#,
        turns(json!([
            {"calls": [{"name": "write_file", "args": {"path": "a.txt", "content": "second"}}]},
            {"calls": [{"name": "write_file", "args": {"path": "a.txt", "content": "third"}}]},
            {"text": "done"}
        ])),
    );
    repository(&world);
    let mut screen = Screen::start(&world, &[]);
    screen.line("go");
    screen.sees("2 checkpoints of");
    let prompt = session(&world).iter().find(|entry| entry["message"]["role"] == "user").unwrap()["id"].clone();
    screen.line(&format!("/branch {}", prompt.as_str().unwrap()));
    screen.asks(">");
    screen.exit();
    assert!(world.sessions().len() == 2 && world.read("a.txt") == "third", "no question, and nothing restored");
}

#[test]
fn a_status_ends_with_the_turn_also_after_an_interrupt_and_begins_anew_with_a_session() {
    let world = module(
        r#"
export default function (pi: any) {
	let turns = 0;
	const show = (ctx: any, sign: string, text: string) => ctx.ui.setStatus("demo", ctx.ui.theme.fg("accent", sign) + ctx.ui.theme.fg("dim", text));
	pi.on("session_start", async (_event: any, ctx: any) => show(ctx, "-", " ready"));
	pi.on("turn_start", async (_event: any, ctx: any) => show(ctx, "*", ` turn ${++turns} runs`));
	pi.on("turn_end", async (_event: any, ctx: any) => show(ctx, "+", ` turn ${turns} over`));
	pi.on("session_switch", async (event: any, ctx: any) => {
		if (event.reason !== "new") return;
		turns = 0;
		show(ctx, "-", " ready again");
	});
}"#,
        turns(json!([{"text": "thinking", "hang": true}, {"text": "two"}])),
    );
    let mut screen = Screen::start(&world, &[]);
    screen.sees("[- ready]");
    screen.line("go");
    screen.sees("thinking");
    screen.keys(ESCAPE);
    screen.sees("[+ turn 1 over]");
    screen.line("/clear");
    screen.sees("[- ready again]");
    screen.line("go");
    screen.sees("[+ turn 1 over]");
    screen.exit();
}

#[test]
fn a_file_of_the_project_is_watched_once_however_often_the_session_is_compacted() {
    let world = module(
        r#"
import * as fs from "node:fs";
declare const Bun: any;
export default function (pi: any) {
	pi.on("session_start", async (_event: any, ctx: any) => {
		const file = `${ctx.cwd}/trigger.txt`;
		fs.writeFileSync(file, "");
		fs.watch(file, async () => {
			const content = (await Bun.file(file).text()).trim();
			if (!content) return;
			pi.sendMessage({ customType: "file-trigger", content: `Outside: ${content}`, display: true }, true);
			await Bun.write(file, "");
		});
		if (ctx.hasUI) ctx.ui.notify(`watching ${file}`, "info");
	});
}"#,
        turns(
            json!([{"text": "one"}, {"text": "two"}, {"text": "heard", "expect": {"contains": ["Outside: build it"]}}]),
        ),
    );
    let mut screen = Screen::start(&world, &[]);
    screen.sees("watching");
    screen.line("first");
    screen.sees("one");
    screen.line("second");
    screen.sees("two");
    screen.line("/compact");
    screen.asks(">");
    world.write("trigger.txt", "build it");
    screen.sees("heard");
    screen.exit();
    let heard = session(&world).iter().filter(|entry| entry["customType"] == "file-trigger").count();
    assert_eq!(heard, 1);
}

/// A compaction by a model of the module's choice, of which this agent has none, or by the agent's own.
fn compaction(model: &str) -> String {
    format!(
        r#"
import {{ complete, getModel }} from "@f5xc-salesdemos/pi-ai";
import {{ convertToLlm, serializeConversation }} from "@f5xc-salesdemos/xcsh";
export default function (pi: any) {{
	pi.on("session_before_compact", async (event: any, ctx: any) => {{
		const {{ preparation, signal }} = event;
		const {{ messagesToSummarize, turnPrefixMessages, tokensBefore, firstKeptEntryId, previousSummary }} = preparation;
		const model = {model};
		if (!model) {{
			ctx.ui.notify("no such model; the default is used", "warning");
			return;
		}}
		const apiKey = await ctx.modelRegistry.getApiKey(model);
		if (!apiKey) return;
		const all = [...messagesToSummarize, ...turnPrefixMessages];
		ctx.ui.notify(`summarising ${{all.length}} messages (${{tokensBefore.toLocaleString()}} tokens)`, "info");
		const before = previousSummary ? `\n\nBefore: ${{previousSummary}}` : "";
		const text = `Summarise:${{before}}\n${{serializeConversation(convertToLlm(all))}}`;
		try {{
			const answer = await complete(model, {{ messages: [{{ role: "user", content: [{{ type: "text", text }}], timestamp: Date.now() }}] }}, {{ apiKey, maxTokens: 8192, signal }});
			const summary = answer.content.filter((part: any) => part.type === "text").map((part: any) => part.text).join("\n");
			if (!summary.trim()) {{
				if (!signal.aborted) ctx.ui.notify("empty summary", "warning");
				return;
			}}
			return {{ compaction: {{ summary, firstKeptEntryId, tokensBefore }} }};
		}} catch (error) {{
			ctx.ui.notify(`failed: ${{error}}`, "error");
			return;
		}}
	}});
}}"#
    )
}

#[test]
fn a_compaction_by_another_model_falls_back_to_the_default_and_one_by_this_model_is_used() {
    let script = json!({"turns": [{"text": "one"}, {"text": "two"}],
                        "summaries": ["by the agent"], "completions": ["by the module"]});
    let missing = module(&compaction(r#"getModel("google", "gemini-2.5-flash")"#), script.clone());
    let ran = missing.lines(&[], &["first", "second", "/compact"]).ends_with(0);
    assert_eq!(ran.texts("compacted", "summary"), ["by the agent"], "{}", ran.stdout);
    let present = module(&compaction("ctx.model"), script);
    let ran = present.lines(&[], &["first", "second", "/compact"]).ends_with(0);
    assert_eq!(ran.texts("compacted", "summary"), ["by the module"], "{}", ran.stdout);
}

/// A command that asks the model about the conversation behind a loader, and what it then does with the answer.
fn asking_command(name: &str, prompt: &str, then: &str) -> String {
    format!(
        r#"
import {{ complete, type Message }} from "@oh-my-pi/pi-ai";
import {{ BorderedLoader, convertToLlm, serializeConversation }} from "@oh-my-pi/pi-coding-agent";
export default function (pi: any) {{
	pi.registerCommand("{name}", {{
		description: "Ask the model about this conversation",
		handler: async (args: string, ctx: any) => {{
			if (!ctx.hasUI) return ctx.ui.notify("{name} needs a user", "error");
			if (!ctx.model) return ctx.ui.notify("no model", "error");
			const branch = ctx.sessionManager.getBranch();
			const messages = branch.filter((entry: any) => entry.type === "message").map((entry: any) => entry.message);
			const last = messages.findLast((message: any) => message.role === "assistant" && message.stopReason === "stop");
			if (!last) return ctx.ui.notify("nothing was said yet", "error");
			const file = ctx.sessionManager.getSessionFile();
			const text = {prompt};
			const result = await ctx.ui.custom((tui: any, theme: any, done: any) => {{
				const loader = new BorderedLoader(tui, theme, `Asking ${{ctx.model.id}} …`);
				loader.onAbort = () => done(null);
				const ask = async () => {{
					const apiKey = await ctx.modelRegistry.getApiKey(ctx.model);
					const message: Message = {{ role: "user", content: [{{ type: "text", text }}], timestamp: Date.now() }};
					const answer = await complete(ctx.model, {{ systemPrompt: "Answer.", messages: [message] }}, {{ apiKey, signal: loader.signal }});
					if (answer.stopReason === "aborted") return null;
					return answer.content.filter((part: any) => part.type === "text").map((part: any) => part.text).join("\n");
				}};
				ask().then(done).catch((error: any) => {{ console.error(error); done(null); }});
				return loader;
			}});
			if (result === null) return ctx.ui.notify("cancelled", "info");
			{then}
		}},
	}});
}}"#
    )
}

#[test]
fn a_handoff_goes_on_in_a_new_session_with_the_prompt_that_the_user_edited() {
    let source = asking_command(
        "handoff",
        "`Goal: ${args}\\n${serializeConversation(convertToLlm(messages))}`",
        r#"const edited = await ctx.ui.editor("Edit the prompt", result);
			if (edited === undefined) return ctx.ui.notify("cancelled", "info");
			const { cancelled } = await ctx.newSession({ parentSession: file });
			if (cancelled) return ctx.ui.notify("the new session was cancelled", "info");
			ctx.ui.setEditorText(edited);
			ctx.ui.notify("submit when ready", "info");"#,
    );
    let world = module(
        &source,
        json!({"turns": [{"text": "one"}, {"text": "two", "expect": {"contains": ["Do the rest, please"], "lacks": ["hello"]}}],
               "completions": ["Do the rest"]}),
    );
    let mut screen = Screen::start(&world, &[]);
    screen.line("/handoff now");
    screen.sees("nothing was said yet");
    screen.line("hello");
    screen.sees("one");
    let first = world.sessions().pop().unwrap();
    screen.line("/handoff finish it");
    screen.sees("Ctrl-D accepts");
    screen.keys(", please");
    screen.sees("Do the rest, please");
    screen.keys("\x04");
    screen.sees("> Do the rest, please");
    screen.keys("\r");
    screen.sees("two");
    screen.exit();
    let header = &session(&world)[0];
    assert_eq!(header["parentSession"].as_str(), first.to_str(), "{header}");
}

#[test]
fn questions_of_the_last_answer_are_put_into_the_prompt() {
    let source = asking_command(
        "qna",
        "last.content.filter((part: any) => part.type === \"text\").map((part: any) => part.text).join(\"\\n\")",
        "ctx.ui.setEditorText(result);",
    );
    let world = module(
        &source,
        json!({"turns": [{"text": "Which colour, and why?"}, {"text": "two", "expect": {"contains": ["Q: Which colour?"]}}],
               "completions": ["Q: Which colour?"]}),
    );
    let mut screen = Screen::start(&world, &[]);
    screen.line("hello");
    screen.sees("Which colour, and why?");
    screen.line("/qna");
    screen.sees("> Q: Which colour?");
    screen.keys("\r");
    screen.sees("two");
    screen.exit();
    let ran = world.lines(&[], &["/qna"]).ends_with(0);
    assert!(!ran.stdout.contains("Asking"), "{}", ran.stdout);
}

#[test]
fn a_game_runs_on_its_timer_is_saved_and_goes_on_where_it_was_left() {
    let world = module(
        r#"
import { matchesKey, visibleWidth } from "@oh-my-pi/pi-tui";
const SAVED = "steps-save";
class Game {
	#timer: ReturnType<typeof setInterval> | null;
	#cached: string[] = [];
	#paused: boolean;
	constructor(private tui: { requestRender: () => void }, private onClose: () => void, private onSave: (steps: number | null) => void, private steps: number) {
		this.#paused = steps > 0;
		this.#timer = setInterval(() => {
			if (this.#paused || this.steps >= 3) return;
			this.steps += 1;
			this.tui.requestRender();
		}, 10);
	}
	handleInput(data: string): void {
		if (matchesKey(data, "escape")) {
			this.dispose();
			this.onSave(this.steps);
			this.onClose();
		} else if (data === "q") {
			this.dispose();
			this.onSave(null);
			this.onClose();
		} else this.#paused = false;
		this.tui.requestRender();
	}
	invalidate(): void { this.#cached = []; }
	render(width: number): string[] {
		const line = this.#paused ? `paused at ${this.steps}` : `step ${this.steps}`;
		this.#cached = [line + " ".repeat(Math.max(0, Math.min(width, 20) - visibleWidth(line)))];
		return this.#cached;
	}
	dispose(): void {
		if (this.#timer) clearInterval(this.#timer);
		this.#timer = null;
	}
}
export default function (pi: any) {
	pi.registerCommand("steps", {
		description: "Count steps",
		handler: async (_args: string, ctx: any) => {
			if (!ctx.hasUI) return ctx.ui.notify("steps needs a user", "error");
			const entries = ctx.sessionManager.getEntries();
			let saved = 0;
			for (let at = entries.length - 1; at >= 0; at--) {
				if (entries[at].type === "custom" && entries[at].customType === SAVED) {
					saved = entries[at].data ?? 0;
					break;
				}
			}
			await ctx.ui.custom((tui: any, _theme: any, done: any) => new Game(tui, () => done(undefined), (steps: any) => pi.appendEntry(SAVED, steps), saved));
			ctx.ui.notify("game over");
		},
	});
}"#,
        says("x"),
    );
    let mut screen = Screen::start(&world, &[]);
    screen.line("/steps");
    screen.sees("step 3");
    screen.keys(ESCAPE);
    screen.sees("game over");
    screen.line("/steps");
    screen.sees("paused at 3");
    screen.keys("x");
    screen.sees("step 3");
    screen.keys("q");
    screen.asks(">");
    screen.line("/steps");
    screen.until("a new game", |text| text.contains("step 1") || text.contains("step 2") || text.contains("step 3"));
    screen.keys("q");
    screen.asks(">");
    screen.exit();
    let saved: Vec<Value> = session(&world)
        .iter()
        .filter(|entry| entry["customType"] == "steps-save")
        .map(|entry| entry["data"].clone())
        .collect();
    assert_eq!(saved, [json!(3), Value::Null, Value::Null]);
}

#[test]
fn modules_load_under_the_names_of_the_packages_of_each_agent() {
    let source = asking_command("handoff", "args", "");
    for (agent, models, screen) in [
        ("@f5xc-salesdemos/xcsh", "@f5xc-salesdemos/pi-ai", "@f5xc-salesdemos/pi-tui"),
        ("@oh-my-pi/pi-coding-agent", "@oh-my-pi/pi-ai", "@oh-my-pi/pi-tui"),
        ("@mariozechner/pi-coding-agent", "@mariozechner/pi-ai", "@mariozechner/pi-tui"),
    ] {
        let source = source.replace("@oh-my-pi/pi-coding-agent", agent).replace("@oh-my-pi/pi-ai", models);
        let source = format!("import {{ matchesKey, visibleWidth }} from \"{screen}\";\n{source}");
        let world = module(&source, says("x"));
        let ran = world.lines(&[], &["/help"]).ends_with(0);
        assert!(ran.stdout.contains("/handoff"), "{agent}: {}", ran.stdout);
        assert!(ran.shown("warning").is_empty(), "{agent}: {}", ran.stdout);
    }
}
