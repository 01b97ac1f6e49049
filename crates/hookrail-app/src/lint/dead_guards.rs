//! Which findings mean that a guard never guards although it is configured and granted.

use hookrail::Code;

/// A program that is missing or cannot be executed, a timeout in the wrong unit, a matcher that no tool has, a field of the payload
/// that is never sent, a variable that is never set, an answer that is not understood, and a group without a list of hooks.
pub const CODES: [Code; 13] = [
    Code::ProgramMissing,
    Code::ScriptMissing,
    Code::ScriptNotExecutable,
    Code::ScriptInterpreter,
    Code::TimeoutShort,
    Code::TimeoutLong,
    Code::MatcherNoTool,
    Code::MatcherNoValue,
    Code::PayloadFieldUnknown,
    Code::VariableUnknown,
    Code::AnswerKeyUnknown,
    Code::GroupShape,
    Code::HookShape,
];
