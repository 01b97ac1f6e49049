//! {{name}}: {{about}}.

fn main() -> Result<(), serde_json::Error> {
    let event: serde_json::Value = serde_json::from_reader(std::io::stdin())?;
    let text = event.pointer("/{{pointer}}").and_then(|text| text.as_str()).unwrap_or_default();
    if text.contains("{{word}}") {
        println!("{}", serde_json::json!({{answer}}));
    }
    Ok(())
}
