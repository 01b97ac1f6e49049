// Types of hook modules, written by `hookrail types` (hookrail VERSION). Do not edit: the command replaces this file.
//
// A module imports them from the package that it would use in its agent, under any scope:
//
//     import type { HookAPI } from "@f5xc-salesdemos/xcsh/hooks";

declare module "hookrail:hooks" {
	// ---- messages ----

	export interface TextContent {
		type: "text";
		text: string;
	}
	export interface ImageContent {
		type: "image";
		data: string;
		mimeType: string;
	}
	export interface ThinkingContent {
		type: "thinking";
		thinking: string;
	}
	export interface ToolCall {
		type: "toolCall";
		id: string;
		name: string;
		arguments: Record<string, any>;
	}
	export interface UserMessage {
		role: "user";
		content: string | (TextContent | ImageContent)[];
		timestamp?: number;
	}
	export interface AssistantMessage {
		role: "assistant";
		content: (TextContent | ThinkingContent | ToolCall)[];
		timestamp?: number;
		[more: string]: unknown;
	}
	export interface ToolResultMessage {
		role: "toolResult";
		toolCallId: string;
		toolName: string;
		content: (TextContent | ImageContent)[];
		details?: unknown;
		isError?: boolean;
		timestamp?: number;
	}
	/** A message that a hook has added. */
	export interface CustomMessage<T = unknown> {
		role: "custom" | "hookMessage";
		customType: string;
		content: string | (TextContent | ImageContent)[];
		display?: boolean;
		details?: T;
		timestamp?: number;
	}
	export interface BashExecutionMessage {
		role: "bashExecution";
		command: string;
		output?: string;
		content?: undefined;
		timestamp?: number;
	}
	export interface SummaryMessage {
		role: "branchSummary" | "compactionSummary";
		summary: string;
		content?: undefined;
		timestamp?: number;
	}
	export type AgentMessage =
		| UserMessage
		| AssistantMessage
		| ToolResultMessage
		| CustomMessage
		| BashExecutionMessage
		| SummaryMessage;
	/** A message as a model gets it. */
	export type Message = UserMessage | AssistantMessage | ToolResultMessage;
	/** What `pi.sendMessage` adds to the conversation. */
	export interface NewMessage<T = unknown> {
		customType: string;
		content: string | (TextContent | ImageContent)[];
		/** Whether the user sees it. */
		display?: boolean;
		details?: T;
	}

	// ---- the session ----

	interface EntryBase {
		id: string;
		parentId?: string | null;
		timestamp?: string | number;
	}
	export interface MessageEntry extends EntryBase {
		type: "message";
		message: AgentMessage;
		data?: undefined;
	}
	/** An entry that a hook has added with `pi.appendEntry`. */
	export interface CustomEntry extends EntryBase {
		type: "custom";
		customType: string;
		data?: any;
	}
	export interface CustomMessageEntry extends EntryBase {
		type: "custom_message";
		customType: string;
		content: string | (TextContent | ImageContent)[];
		display?: boolean;
		details?: unknown;
		data?: undefined;
	}
	export interface CompactionEntry extends EntryBase {
		type: "compaction";
		summary: string;
		firstKeptEntryId?: string;
		tokensBefore?: number;
		data?: undefined;
	}
	export interface BranchSummaryEntry extends EntryBase {
		type: "branch_summary";
		summary: string;
		data?: undefined;
	}
	export interface LabelEntry extends EntryBase {
		type: "label";
		targetId: string;
		label?: string;
		data?: undefined;
	}
	export interface ModelChangeEntry extends EntryBase {
		type: "model_change" | "thinking_level_change";
		data?: undefined;
		[more: string]: unknown;
	}
	export type SessionEntry =
		| MessageEntry
		| CustomEntry
		| CustomMessageEntry
		| CompactionEntry
		| BranchSummaryEntry
		| LabelEntry
		| ModelChangeEntry;
	export interface SessionTreeNode {
		entry: SessionEntry;
		children: SessionTreeNode[];
		label?: string;
	}

	/** The session of the agent. Without one, lists are empty and all else is undefined. */
	export interface SessionManager {
		getCwd(): string | undefined;
		getSessionDir(): string | undefined;
		getSessionId(): string | undefined;
		getSessionFile(): string | undefined;
		getSessionName(): string | undefined;
		getLeafId(): string | undefined;
		getLeafEntry(): SessionEntry | undefined;
		getEntry(id: string): SessionEntry | undefined;
		getLabel(id: string): string | undefined;
		/** The entries from the root to an entry; to the leaf by default. */
		getBranch(leafId?: string): SessionEntry[];
		getHeader(): Record<string, any> | undefined;
		getEntries(): SessionEntry[];
		getTree(): SessionTreeNode[];
		getUsageStatistics(): Record<string, number> | undefined;
		getArtifactsDir(): string | undefined;
		getArtifactPath(id: string): string | undefined;
		/** Keeps a text beside the session and gives its number. */
		saveArtifact(content: string, type?: string): string | undefined;
	}
	/** The manager with which a new session is set up. */
	export interface WritableSessionManager extends SessionManager {
		appendMessage(message: AgentMessage): string | undefined;
		appendCustomEntry(customType: string, data?: unknown): string | undefined;
		appendCustomMessageEntry(customType: string, content: string | (TextContent | ImageContent)[], display?: boolean, details?: unknown): string | undefined;
	}

	// ---- models ----

	export interface Model {
		provider: string;
		id: string;
		name?: string;
		[more: string]: unknown;
	}
	export interface ModelRegistry {
		find(provider: string, id: string): Model | undefined;
		getAll(): Model[];
		getAvailable(): Model[];
		getApiKey(model: Model): Promise<string | undefined>;
	}

	// ---- the terminal ----

	/** Something that draws itself as lines and may take keys. */
	export interface Component {
		render(width: number): string[];
		handleInput?(data: string): void;
		invalidate?(): void;
		dispose?(): void;
	}
	export interface Tui {
		requestRender(): void;
		terminal: { columns: number; rows: number };
	}
	/** Colours and styles of the host. */
	export interface Theme {
		fg(color: string, text: string): string;
		bg(color: string, text: string): string;
		bold(text: string): string;
		italic(text: string): string;
		underline(text: string): string;
		strikethrough(text: string): string;
		inverse(text: string): string;
		getFgAnsi(color: string): string;
		getBgAnsi(color: string): string;
		getColorMode(): string;
		getThinkingBorderColor(level: string): (text: string) => string;
		getBashModeBorderColor(): (text: string) => string;
	}
	export interface DialogOptions {
		/** Ends the dialog. */
		signal?: AbortSignal;
	}
	/** Dialogs with the user. Without a user they give what the comments say and do nothing else. */
	export interface HookUI {
		/** Undefined if nothing was chosen, and without a user. */
		select(title: string, options: string[], dialog?: DialogOptions): Promise<string | undefined>;
		/** False without a user. */
		confirm(title: string, message?: string, dialog?: DialogOptions): Promise<boolean>;
		/** Undefined if it was left, and without a user. */
		input(title: string, placeholder?: string, dialog?: DialogOptions): Promise<string | undefined>;
		/** Undefined if it was left, and without a user. */
		editor(title: string, prefill?: string, dialog?: DialogOptions): Promise<string | undefined>;
		notify(message: string, type?: "info" | "warning" | "error"): void;
		/** Shows a text in the status line; undefined removes it. */
		setStatus(key: string, text: string | undefined): void;
		/** Shows a component until it calls `done`. Undefined without a user. */
		custom<T>(factory: (tui: Tui, theme: Theme, done: (result: T) => void) => Component | Promise<Component>): Promise<T>;
		custom<T>(factory: (tui: Tui, theme: Theme, keybindings: object, done: (result: T) => void) => Component | Promise<Component>): Promise<T>;
		setEditorText(text: string): void;
		/** Empty without a user. */
		getEditorText(): string;
		readonly theme: Theme;
	}

	// ---- contexts ----

	/** What a handler knows about its surroundings. */
	export interface HookContext {
		/** Whether there is a user to ask. */
		readonly hasUI: boolean;
		readonly ui: HookUI;
		/** The working directory. */
		readonly cwd: string;
		readonly sessionManager: SessionManager;
		readonly modelRegistry: ModelRegistry;
		readonly model: Model | undefined;
		isIdle(): boolean;
		/** Ends what the agent does at the moment. */
		abort(): void;
		hasQueuedMessages(): boolean;
		/** The older name of `hasQueuedMessages`. */
		hasPendingMessages(): boolean;
	}
	/** What only a slash command can do. */
	export interface HookCommandContext extends HookContext {
		waitForIdle(): Promise<void>;
		newSession(options?: { parentSession?: string; setup?: (manager: WritableSessionManager) => void | Promise<void> }): Promise<{ cancelled: boolean }>;
		branch(entryId: string): Promise<{ cancelled: boolean }>;
		navigateTree(targetId: string, options?: { summarize?: boolean }): Promise<{ cancelled: boolean }>;
	}

	// ---- events ----

	/** What a compaction would replace. */
	export interface CompactionPreparation {
		firstKeptEntryId: string;
		messagesToSummarize: AgentMessage[];
		turnPrefixMessages: AgentMessage[];
		isSplitTurn?: boolean;
		tokensBefore: number;
		previousSummary?: string;
		[more: string]: unknown;
	}
	export interface CompactionResult {
		summary: string;
		firstKeptEntryId: string;
		tokensBefore: number;
		details?: unknown;
	}
	/** Where the agent would move to in the session tree. */
	export interface TreePreparation {
		targetId: string;
		oldLeafId?: string | null;
		commonAncestorId?: string | null;
		entriesToSummarize?: SessionEntry[];
		userWantsSummary?: boolean;
		[more: string]: unknown;
	}
// EVENTS
	/** A handler. In events without results, what it returns is thrown away. */
	export type HookHandler<E extends keyof HookEvents> = (
		event: HookEvents[E],
		ctx: HookContext,
	) => E extends keyof HookResults ? HookResults[E] | void | undefined | Promise<HookResults[E] | void | undefined> : void | Promise<void>;

	// ---- pi ----

	export interface ExecOptions {
		cwd?: string;
		/** Milliseconds. */
		timeout?: number;
		signal?: AbortSignal;
	}
	export interface ExecResult {
		stdout: string;
		stderr: string;
		code: number;
		/** Whether its timeout or its signal ended it. */
		killed: boolean;
	}
	export interface CommandOptions {
		description?: string;
		handler: (args: string, ctx: HookCommandContext) => void | Promise<void>;
	}
	export type MessageRenderer<T = unknown> = (
		message: CustomMessage<T>,
		options: { expanded: boolean },
		theme: Theme,
	) => Component | null | undefined | Promise<Component | null | undefined>;
	export interface Logger {
		error(message: string, details?: unknown): void;
		warn(message: string, details?: unknown): void;
		info(message: string, details?: unknown): void;
		debug(message: string, details?: unknown): void;
	}

	/** What a module's factory is given. */
	export interface HookAPI {
		/** Registers a handler for an event; one that is registered after the factory has ended counts from then on. */
		on<E extends keyof HookEvents>(event: E, handler: HookHandler<E>): void;
		/** Adds a message to the conversation; `true` means `triggerTurn`. Throws while the factory runs. */
		sendMessage<T = unknown>(message: NewMessage<T>, options?: true | { triggerTurn?: boolean; deliverAs?: string }): void;
		/** Adds an entry to the session. Throws while the factory runs. */
		appendEntry(customType: string, data?: unknown): void;
		/** Offers a slash command; where modules offer the same name, the first one runs. */
		registerCommand(name: string, options: CommandOptions): void;
		/** Draws messages of a type; the first module counts. */
		registerMessageRenderer<T = unknown>(customType: string, renderer: MessageRenderer<T>): void;
		/** Runs a program without a shell. An exit status does not reject, a program that does not exist does. One that its timeout or signal ended has `killed: true` and `code: 143`. */
		exec(command: string, args: string[], options?: ExecOptions): Promise<ExecResult>;
		/** Writes to the host's log; what is logged during an event is also in its run (`stderr`). */
		readonly logger: Logger;
		/** Builds JSON Schemas. */
		readonly typebox: { Type: import("hookrail:typebox").TypeBuilder; StringEnum: typeof import("hookrail:ai").StringEnum };
		/** What can be imported from the agent's package. */
		readonly pi: typeof import("hookrail:agent");
	}
	/** The default export of a module. */
	export type HookFactory = (pi: HookAPI) => void | Promise<void>;
}

declare module "hookrail:agent" {
	import type { AgentMessage, Component, ExecResult, HookCommandContext, HookContext, HookUI, Message, Theme, Tui } from "hookrail:hooks";
	import { Container } from "hookrail:tui";
	export * from "hookrail:hooks";

	/** Messages as a model gets them. */
	export function convertToLlm(messages: AgentMessage[]): Message[];
	export function serializeConversation(messages: Message[]): string;
	export function estimateTokens(message: AgentMessage): number;
	export function isBashToolResult(event: { toolName: string }): boolean;
	export function isReadToolResult(event: { toolName: string }): boolean;
	export function isEditToolResult(event: { toolName: string }): boolean;
	export function isWriteToolResult(event: { toolName: string }): boolean;
	export function isGrepToolResult(event: { toolName: string }): boolean;
	export function isFindToolResult(event: { toolName: string }): boolean;
	export function isLsToolResult(event: { toolName: string }): boolean;
	export function isToolCallEventType(name: string, event: { toolName: string }): boolean;
	export function execCommand(command: string, args: string[], cwd?: string, options?: { timeout?: number }): Promise<ExecResult>;
	/** A hook that a module loaded itself. */
	export interface LoadedHook {
		readonly path: string;
		readonly resolvedPath: string;
		readonly handlers: Map<string, ((event: any, ctx: HookContext) => unknown)[]>;
		readonly messageRenderers: Map<string, unknown>;
		readonly commands: Map<string, { name: string; description?: string; handler: (args: string, ctx: HookCommandContext) => unknown }>;
	}
	export interface LoadHooksResult {
		hooks: LoadedHook[];
		errors: { path: string; error: string }[];
	}
	/** Loads hooks into this module's own world, with its trust and capabilities; what it must not load is an error. */
	export function loadHooks(paths: string[], cwd?: string): Promise<LoadHooksResult>;
	/** The same with the hooks that agents would find in this folder. */
	export function discoverAndLoadHooks(configuredPaths?: string[], cwd?: string): Promise<LoadHooksResult>;
	export class HookRunner {
		constructor(hooks: LoadedHook[], cwd: string, sessionManager?: unknown, modelRegistry?: unknown);
		initialize(options?: Record<string, unknown>): void;
		getUIContext(): HookUI;
		getHasUI(): boolean;
		getHookPaths(): string[];
		onError(listener: (error: { hookPath: string; event: string; error: string }) => void): () => void;
		emitError(error: { hookPath: string; event: string; error: string }): void;
		hasHandlers(event: string): boolean;
		getMessageRenderer(customType: string): unknown;
		getRegisteredCommands(): { name: string; description?: string }[];
		getCommand(name: string): { name: string; description?: string; handler: (args: string, ctx: HookCommandContext) => unknown } | undefined;
		createContext(): HookContext;
		createCommandContext(): HookCommandContext;
		emit(event: { type: string }): Promise<any>;
		emitToolCall(event: { type: string }): Promise<any>;
		emitContext(messages: any[]): Promise<any[]>;
		emitBeforeAgentStart(prompt: string, images?: unknown[]): Promise<any>;
	}
	export class HookToolWrapper {
		constructor(tool: { name: string; execute: (...args: any[]) => Promise<any> }, hookRunner: HookRunner);
		execute(toolCallId: string, params: unknown, signal?: AbortSignal, onUpdate?: unknown, context?: unknown): Promise<any>;
	}
	export function wrapToolWithHooks(tool: { name: string; execute: (...args: any[]) => Promise<any> }, hookRunner: HookRunner): HookToolWrapper;
	export function wrapToolsWithHooks(tools: { name: string; execute: (...args: any[]) => Promise<any> }[], hookRunner: HookRunner): HookToolWrapper[];
	export function getMarkdownTheme(): Record<string, (text: string) => string>;
	export function getSelectListTheme(): Record<string, (text: string) => string>;
	export class DynamicBorder implements Component {
		constructor(paint?: (text: string) => string);
		render(width: number): string[];
		invalidate(): void;
	}
	/** A message while something is being waited for, which Escape ends. */
	export class BorderedLoader extends Container {
		constructor(tui: Tui, theme: Theme, message: string);
		readonly signal: AbortSignal;
		onAbort: (() => void) | undefined;
		handleInput(data: string): void;
	}
}

declare module "hookrail:ai" {
	import type { AssistantMessage, Message, Model } from "hookrail:hooks";
	import type { TSchema } from "hookrail:typebox";
	export { Type } from "hookrail:typebox";
	export function StringEnum(values: readonly string[], options?: TSchema): TSchema;
	export interface CompletionContext {
		systemPrompt?: string;
		messages: Message[];
		tools?: unknown[];
	}
	export interface CompletionOptions {
		apiKey?: string;
		signal?: AbortSignal;
		maxTokens?: number;
		temperature?: number;
		[more: string]: unknown;
	}
	/** Asks a model. The host decides whether that is possible. */
	export function complete(model: Model, context: CompletionContext, options?: CompletionOptions): Promise<AssistantMessage>;
	export function completeSimple(model: Model, context: CompletionContext, options?: CompletionOptions): Promise<AssistantMessage>;
	export function getModel(provider: string, id: string): Model | undefined;
	export function getModels(): Model[];
}

declare module "hookrail:typebox" {
	/** A JSON Schema. Nothing is checked against it. */
	export interface TSchema {
		[keyword: string]: unknown;
	}
	export interface TypeBuilder {
		Any(options?: TSchema): TSchema;
		Unknown(options?: TSchema): TSchema;
		Null(options?: TSchema): TSchema;
		Boolean(options?: TSchema): TSchema;
		String(options?: TSchema): TSchema;
		Number(options?: TSchema): TSchema;
		Integer(options?: TSchema): TSchema;
		Literal(value: string | number | boolean, options?: TSchema): TSchema;
		Enum(values: Record<string, string | number>, options?: TSchema): TSchema;
		Array(items: TSchema, options?: TSchema): TSchema;
		Tuple(items: TSchema[], options?: TSchema): TSchema;
		Object(properties: Record<string, TSchema>, options?: TSchema): TSchema;
		Record(key: TSchema, value: TSchema, options?: TSchema): TSchema;
		Union(anyOf: TSchema[], options?: TSchema): TSchema;
		Intersect(allOf: TSchema[], options?: TSchema): TSchema;
		Partial(schema: TSchema, options?: TSchema): TSchema;
		Pick(schema: TSchema, keys: string | string[], options?: TSchema): TSchema;
		Omit(schema: TSchema, keys: string | string[], options?: TSchema): TSchema;
		Optional(schema: TSchema): TSchema;
		Readonly(schema: TSchema): TSchema;
		Unsafe(schema: TSchema): TSchema;
		Date(options?: TSchema): TSchema;
	}
	export const Type: TypeBuilder;
}

declare module "hookrail:tui" {
	import type { Component, Tui } from "hookrail:hooks";
	export type { Component, Tui } from "hookrail:hooks";
	type Paint = (text: string) => string;

	export function matchesKey(data: string, key: string): boolean;
	export function parseKey(data: string): string | undefined;
	export const Key: { [name: string]: any };
	export function isCtrlA(data: string): boolean;
	export function isCtrlC(data: string): boolean;
	export function isCtrlD(data: string): boolean;
	export function isCtrlE(data: string): boolean;
	export function isCtrlG(data: string): boolean;
	export function isCtrlK(data: string): boolean;
	export function isCtrlL(data: string): boolean;
	export function isCtrlO(data: string): boolean;
	export function isCtrlP(data: string): boolean;
	export function isCtrlT(data: string): boolean;
	export function isCtrlU(data: string): boolean;
	export function isCtrlW(data: string): boolean;
	export function isCtrlZ(data: string): boolean;
	export function isShiftCtrlD(data: string): boolean;
	export function isShiftCtrlO(data: string): boolean;
	export function isShiftCtrlP(data: string): boolean;
	export function isArrowUp(data: string): boolean;
	export function isArrowDown(data: string): boolean;
	export function isArrowLeft(data: string): boolean;
	export function isArrowRight(data: string): boolean;
	export function isEscape(data: string): boolean;
	export function isEnter(data: string): boolean;
	export function isTab(data: string): boolean;
	export function isBackspace(data: string): boolean;
	export function isDelete(data: string): boolean;
	export function isHome(data: string): boolean;
	export function isEnd(data: string): boolean;
	export function isShiftTab(data: string): boolean;
	export function isShiftEnter(data: string): boolean;
	export function isShiftBackspace(data: string): boolean;
	export function isShiftDelete(data: string): boolean;
	export function isShiftSpace(data: string): boolean;
	export function isAltBackspace(data: string): boolean;
	export function isAltEnter(data: string): boolean;
	export function isAltLeft(data: string): boolean;
	export function isAltRight(data: string): boolean;
	export function isCtrlLeft(data: string): boolean;
	export function isCtrlRight(data: string): boolean;
	export function visibleWidth(text: string): number;
	export function truncateToWidth(text: string, width: number, ellipsis?: string, pad?: boolean): string;
	export function wrapTextWithAnsi(text: string, width: number): string[];
	export class Text implements Component {
		constructor(text?: string, paddingX?: number, paddingY?: number, background?: Paint);
		text: string;
		setText(text: string): void;
		setCustomBgFn(background?: Paint): void;
		render(width: number): string[];
		invalidate(): void;
	}
	export class TruncatedText implements Component {
		constructor(text?: string, paddingX?: number, paddingY?: number);
		text: string;
		render(width: number): string[];
		invalidate(): void;
	}
	export class Spacer implements Component {
		constructor(lines?: number);
		setLines(lines: number): void;
		render(width: number): string[];
		invalidate(): void;
	}
	export class Container implements Component {
		children: Component[];
		addChild(child: Component): void;
		removeChild(child: Component): void;
		clear(): void;
		render(width: number): string[];
		invalidate(): void;
		dispose(): void;
	}
	export class Box extends Container {
		constructor(paddingX?: number, paddingY?: number, background?: Paint);
		setBgFn(background?: Paint): void;
	}
	export class Markdown implements Component {
		constructor(text?: string, paddingX?: number, paddingY?: number, theme?: Record<string, Paint>, style?: { color?: Paint; bgColor?: Paint });
		setText(text: string): void;
		render(width: number): string[];
		invalidate(): void;
	}
	export class Input implements Component {
		onSubmit: ((value: string) => void) | undefined;
		onEscape: (() => void) | undefined;
		getValue(): string;
		setValue(value: string): void;
		handleInput(data: string): void;
		render(width: number): string[];
		invalidate(): void;
	}
	export interface SelectItem {
		value: string;
		label?: string;
		description?: string;
	}
	export class SelectList implements Component {
		constructor(items: SelectItem[], maxVisible?: number, theme?: Record<string, Paint>);
		onSelect: ((item: SelectItem) => void) | undefined;
		onCancel: (() => void) | undefined;
		onSelectionChange: ((item: SelectItem) => void) | undefined;
		setFilter(filter: string): void;
		setSelectedIndex(index: number): void;
		getSelectedItem(): SelectItem | null;
		handleInput(data: string): void;
		render(width: number): string[];
		invalidate(): void;
	}
	export class Loader extends Text {
		constructor(tui: Tui, spinnerColor?: Paint, messageColor?: Paint, message?: string);
		start(): void;
		stop(): void;
		setMessage(message: string): void;
		dispose(): void;
	}
	export class CancellableLoader extends Loader {
		readonly signal: AbortSignal;
		readonly aborted: boolean;
		onAbort: (() => void) | undefined;
		handleInput(data: string): void;
	}
}

// ---- the names under which modules import them ----

declare module "*/xcsh/hooks" {
	export * from "hookrail:agent";
}
declare module "*/xcsh" {
	export * from "hookrail:agent";
}
declare module "*/pi-coding-agent/hooks" {
	export * from "hookrail:agent";
}
declare module "*/pi-coding-agent" {
	export * from "hookrail:agent";
}
declare module "*/pi-ai" {
	export * from "hookrail:ai";
}
declare module "*/pi-tui" {
	export * from "hookrail:tui";
}
declare module "*/typebox" {
	export * from "hookrail:typebox";
}
declare module "typebox" {
	export * from "hookrail:typebox";
}
