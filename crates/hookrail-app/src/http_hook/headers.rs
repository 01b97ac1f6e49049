//! The headers of a request, with the variables that their values name.

use hookrail::http::HttpTarget;

use crate::failure::{Failure, Result};

/// The headers that say how the body is framed and where the request goes: they follow from the request.
const OF_THE_REQUEST: [&str; 4] = ["host", "content-length", "transfer-encoding", "connection"];

/// The headers of the target with the values of its own variables. A variable that it does not list is empty, as one that is not set.
pub(super) fn resolved(
    target: &HttpTarget,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Vec<(String, String)>> {
    let allowed = |name: &str| target.variables.iter().any(|listed| listed == name).then(|| variable(name)).flatten();
    let mut headers = Vec::new();
    for (name, template) in target.headers.iter() {
        if OF_THE_REQUEST.contains(&name.to_ascii_lowercase().as_str()) {
            return Err(Failure::new(format!("a hook cannot set the header `{name}`")));
        }
        let value = with_variables(template, &allowed);
        // A line break would begin another header, and the message must not show what may be a secret.
        if value.chars().any(|letter| letter.is_control() && letter != '\t') {
            return Err(Failure::new(format!("the value of the header `{name}` has a control character")));
        }
        headers.push((name.clone(), value));
    }
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
    }
    Ok(headers)
}

/// The text with `$NAME` and `${NAME}` replaced. A `$` before anything else stays.
fn with_variables(template: &str, value: &impl Fn(&str) -> Option<String>) -> String {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('$') {
        text.push_str(before);
        let braced = after.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let bare = || after.split_at(after.find(|letter| !is_name(letter)).unwrap_or(after.len()));
        let (name, following) = braced.unwrap_or_else(bare);
        let begins_well = name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
        if begins_well && name.chars().all(is_name) {
            text.push_str(&value(name).unwrap_or_default());
            rest = following;
        } else {
            text.push('$');
            rest = after;
        }
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(name: &str, value: &str) -> HttpTarget {
        HttpTarget {
            url: "http://localhost/".into(),
            headers: [(name.to_owned(), value.to_owned())].into(),
            variables: ["TOKEN".to_owned(), "BROKEN".to_owned()].into(),
        }
    }

    fn set(name: &str) -> Option<String> {
        match name {
            "TOKEN" => Some("t0k".to_owned()),
            "SECRET" => Some("never".to_owned()),
            "BROKEN" => Some("a\r\nX-Other: b".to_owned()),
            _ => None,
        }
    }

    #[test]
    fn only_listed_variables_reach_a_header() {
        for (template, expected) in [
            ("Bearer $TOKEN", "Bearer t0k"),
            ("${TOKEN}x$TOKEN.", "t0kxt0k."),
            ("[$SECRET${SECRET}]", "[]"),
            ("$5 ${a b} $", "$5 ${a b} $"),
            ("plain", "plain"),
        ] {
            let headers = resolved(&target("X-Key", template), set).unwrap();
            assert_eq!(headers[0].1, expected, "{template}");
        }
    }

    #[test]
    fn a_header_is_one_line_and_does_not_frame_the_request() {
        assert!(resolved(&target("X-Key", "$BROKEN"), set).is_err());
        assert!(resolved(&target("Content-length", "3"), set).is_err());
        let own = resolved(&target("content-type", "text/plain"), set).unwrap();
        assert_eq!(own.len(), 1, "the hook's own type of content stands");
        assert_eq!(resolved(&target("X-Key", "a"), set).unwrap().len(), 2);
    }
}
