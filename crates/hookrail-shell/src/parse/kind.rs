//! The kinds of the grammar's nodes as numbers. Comparing their names takes as long as reading the rest of a line.

use std::sync::LazyLock;

use tree_sitter::{Language, Node as Tree};

macro_rules! kinds {
    ($($name:ident = $text:literal,)*) => {
        /// What a node of the grammar is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Kind {
            $($name,)*
            /// Nothing that structure is made of.
            Other,
        }

        impl Kind {
            #[cfg(test)]
            const ALL: &[Self] = &[$(Self::$name,)*];

            fn named(name: &str) -> Self {
                match name {
                    $($text => Self::$name,)*
                    _ => Self::Other,
                }
            }
        }
    };
}

kinds! {
    Ampersand = "&",
    Semicolon = ";",
    DoubleSemicolon = ";;",
    SemicolonAmpersand = ";&",
    DoubleSemicolonAmpersand = ";;&",
    And = "&&",
    Or = "||",
    Pipe = "|",
    PipeBoth = "|&",
    Not = "!",
    Open = "(",
    Close = ")",
    OpenBrace = "{",
    CloseBrace = "}",
    Comment = "comment",
    List = "list",
    Pipeline = "pipeline",
    RedirectedStatement = "redirected_statement",
    NegatedCommand = "negated_command",
    FileRedirect = "file_redirect",
    HeredocRedirect = "heredoc_redirect",
    HerestringRedirect = "herestring_redirect",
    Command = "command",
    DeclarationCommand = "declaration_command",
    UnsetCommand = "unset_command",
    TestCommand = "test_command",
    VariableAssignment = "variable_assignment",
    VariableAssignments = "variable_assignments",
    Subshell = "subshell",
    CompoundStatement = "compound_statement",
    DoGroup = "do_group",
    IfStatement = "if_statement",
    WhileStatement = "while_statement",
    ForStatement = "for_statement",
    CStyleForStatement = "c_style_for_statement",
    CaseStatement = "case_statement",
    FunctionDefinition = "function_definition",
    If = "if",
    Fi = "fi",
    Then = "then",
    Elif = "elif",
    Else = "else",
    ElifClause = "elif_clause",
    ElseClause = "else_clause",
    While = "while",
    Until = "until",
    For = "for",
    Select = "select",
    In = "in",
    Do = "do",
    Done = "done",
    VariableName = "variable_name",
    CaseItem = "case_item",
    Function = "function",
    Word = "word",
}

/// The kinds of all nodes, by their numbers.
static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let language: Language = tree_sitter_bash::LANGUAGE.into();
    let numbers = 0..u16::try_from(language.node_kind_count()).unwrap_or(u16::MAX);
    numbers.map(|number| language.node_kind_for_id(number).map_or(Kind::Other, Kind::named)).collect()
});

/// Returns the kind of a node. What the grammar does not accept has a number of its own.
pub(super) fn kind_of(tree: Tree<'_>) -> Kind {
    KINDS.get(usize::from(tree.kind_id())).copied().unwrap_or(Kind::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_has_every_kind() {
        let language: Language = tree_sitter_bash::LANGUAGE.into();
        let numbers = 0..u16::try_from(language.node_kind_count()).unwrap();
        let found: Vec<Kind> =
            numbers.filter_map(|number| language.node_kind_for_id(number)).map(Kind::named).collect();
        for kind in Kind::ALL {
            assert!(found.contains(kind), "{kind:?}");
        }
    }
}
