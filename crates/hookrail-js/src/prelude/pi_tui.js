// The part of the terminal package that hook modules import as values.
const { part } = globalThis.__hookrail;
export const {
	matchesKey, parseKey, Key, isCtrlA, isCtrlC, isCtrlD, isCtrlE, isCtrlG, isCtrlK, isCtrlL, isCtrlO, isCtrlP, isCtrlT, isCtrlU, isCtrlW, isCtrlZ,
	isShiftCtrlD, isShiftCtrlO, isShiftCtrlP, isArrowUp, isArrowDown, isArrowLeft, isArrowRight, isEscape, isEnter, isTab, isBackspace, isDelete,
	isHome, isEnd, isShiftTab, isShiftEnter, isShiftBackspace, isShiftDelete, isShiftSpace, isAltBackspace, isAltEnter, isAltLeft, isAltRight,
	isCtrlLeft, isCtrlRight,
} = part("tui_keys.js");
export const { visibleWidth, truncateToWidth, wrapTextWithAnsi } = part("tui_text.js");
export const {
	Text, TruncatedText, Spacer, Container, Box, Markdown, Input, SelectList, Loader, CancellableLoader,
	Editor, SettingsList, Image, TUI, ProcessTerminal, CombinedAutocompleteProvider,
} = part("tui_components.js");
