//! {{name}}: {{about}}.

fn main() -> Result<(), serde_json::Error> {
    let event: serde_json::Value = serde_json::from_reader(std::io::stdin())?;
    eprintln!("{{name}} was told of {{event}}");
    let _ = event;
    Ok(())
}
