//! What the model sees of a session.

use super::*;

fn session(texts: &[&str]) -> Session {
    let mut session = Session::in_memory("s");
    for text in texts {
        session.append_message(&text_message("user", text)).unwrap();
    }
    session
}

fn seen(session: &Session) -> Vec<String> {
    session.contents().iter().map(crate::message::text_of).collect()
}

#[test]
fn a_compaction_hides_what_came_before_what_it_keeps() {
    let mut session = session(&["a", "b", "c"]);
    let fields = [("summary", Json::string("in short")), ("firstKeptEntryId", Json::string("e3"))];
    session.append(SessionEntryKind::Compaction, &fields).unwrap();
    session.append_message(&text_message("user", "d")).unwrap();
    assert_eq!(seen(&session), ["The conversation so far, in short:\n\nin short", "c", "d"]);
    session.append(SessionEntryKind::Cleared, &[]).unwrap();
    session.append(SessionEntryKind::Receipt, &[("operation", Json::string("x"))]).unwrap();
    assert!(seen(&session).is_empty(), "after a clear nothing is in sight");
}

#[test]
fn moving_in_the_tree_and_back() {
    let mut session = session(&["a", "b"]);
    session.move_to(Some("e1")).unwrap();
    session.append_message(&text_message("user", "c")).unwrap();
    assert_eq!(seen(&session), ["a", "c"]);
    session.move_to(Some("e2")).unwrap();
    assert_eq!(seen(&session), ["a", "b"]);
    assert_eq!(session.tree().as_array().unwrap().len(), 1, "one root");
}

#[test]
fn a_session_read_again_is_the_same_and_survives_a_cut_line() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("s.jsonl");
    let mut written = Session::create(&file, "s", dir.path(), None).unwrap();
    for text in ["a", "b", "c"] {
        written.append_message(&text_message("user", text)).unwrap();
    }
    written.move_to(Some("e2")).unwrap();
    drop(written);
    let (read, damage) = Session::open(&file).unwrap();
    assert_eq!((read.id(), read.leaf(), damage.len()), ("s", Some("e2"), 0));
    drop(read);
    let bytes = std::fs::read(&file).unwrap();
    // Cut in the middle of the second message: the first one and everything that can be read stays.
    let second = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).unwrap().0;
    let mut cut = bytes[..second + 20].to_vec();
    cut.push(b'\n');
    let third = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(2).unwrap().0;
    cut.extend(&bytes[third + 1..]);
    std::fs::write(&file, cut).unwrap();
    let (mut read, damage) = Session::open(&file).unwrap();
    assert_eq!(damage.iter().map(|damage| damage.line).collect::<Vec<_>>(), [3]);
    assert_eq!(read.leaf(), None, "the move led to the entry that was lost");
    read.move_to(Some("e3")).unwrap();
    assert_eq!(seen(&read), ["a", "c"], "an entry whose parent was lost follows the last one that was not");
}

#[test]
fn a_file_that_goes_in_circles_does_no_harm() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("s.jsonl");
    let line =
        |id: &str, parent: &str| format!(r#"{{"type":"message","id":"{id}","parentId":"{parent}","message":{{}}}}"#);
    std::fs::write(&file, format!("{}\n{}\n{}\n", line("e1", "e1"), line("e2", "e1"), line("e1", "e2"))).unwrap();
    let (session, _) = Session::open(&file).unwrap();
    assert!(session.branch().len() <= 4);
    assert!(session.tree().as_array().is_some());
}

#[test]
fn a_call_that_was_cut_off_gets_a_result() {
    let call = Json::parse(r#"{"role":"model","parts":[{"functionCall":{"id":"c","name":"t","args":{}}}]}"#).unwrap();
    let result =
        Json::parse(r#"{"role":"user","parts":[{"functionResponse":{"id":"c","name":"t","response":{}}}]}"#).unwrap();
    let mut session = session(&["a"]);
    session.append_message(&call).unwrap();
    session.append_message(&result).unwrap();
    assert_eq!(session.contents().len(), 3, "a call with its result is left alone");
    session.append_message(&call).unwrap();
    assert!(session.contents()[4].text().contains("is not known"), "at the end");
    session.append_message(&text_message("user", "b")).unwrap();
    let contents = session.contents();
    assert!(contents[4].text().contains("is not known") && contents[5].text().contains("\"b\""), "and in the middle");
}
