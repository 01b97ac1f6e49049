// The part of the agent's own package that hook modules import as values.
export const {
	convertToLlm, serializeConversation, estimateTokens, isBashToolResult, isReadToolResult, isEditToolResult, isWriteToolResult,
	isGrepToolResult, isFindToolResult, isLsToolResult, isToolCallEventType, execCommand, getMarkdownTheme, getSelectListTheme, DynamicBorder,
	BorderedLoader, createAgentSession, discoverAndLoadHooks, loadHooks, HookRunner, HookToolWrapper, wrapToolWithHooks, wrapToolsWithHooks, discoverHooks, AgentSession, main,
	SessionManager, ModelRegistry, SettingsManager, messageTransformer,
} = globalThis.__hookrail.part("agent_parts.js");
