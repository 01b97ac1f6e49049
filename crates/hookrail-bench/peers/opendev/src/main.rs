//! Drives `opendev-hooks` line by line; times are taken here, around the calls, in a task of a multi-threaded runtime.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::time::Instant;

use opendev_hooks::{HookConfig, HookEvent, HookManager};
use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut managers = HashMap::new();
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", json!({"ready": true}))?;
    for line in std::io::stdin().lock().lines() {
        let asked: Value = serde_json::from_str(&line?)?;
        let answer = answer(&runtime, &mut managers, &asked).unwrap_or_else(|error| json!({"error": error.to_string()}));
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(
    runtime: &tokio::runtime::Runtime,
    managers: &mut HashMap<String, Arc<HookManager>>,
    asked: &Value,
) -> Result<Value> {
    let id = asked["id"].as_str().ok_or("no id")?.to_owned();
    let number = |name: &str, default: u64| asked[name].as_u64().unwrap_or(default);
    match asked["do"].as_str() {
        Some("prepare") => {
            let mut config: HookConfig = serde_json::from_value(json!({"hooks": {"PreToolUse": asked["groups"]}}))?;
            config.compile_all();
            managers.insert(id, Arc::new(HookManager::new(config, "bench", "/tmp")));
            Ok(json!({}))
        }
        Some("fire") => {
            let manager = Arc::clone(managers.get(&id).ok_or("not prepared")?);
            let (times, hooks) = (number("times", 1), number("hooks", 0) as usize);
            let content = "x".repeat(number("bytes", 1024) as usize);
            let data = json!({"tool_input": {"file_path": "src/main.rs", "content": content}});
            let task = runtime.spawn(async move {
                let began = Instant::now();
                for _ in 0..times {
                    let outcome = manager.run_hooks(HookEvent::PreToolUse, Some("write_file"), Some(&data)).await;
                    if outcome.results.len() != hooks || outcome.results.iter().any(|result| !result.success()) {
                        return Err(format!("{hooks} hooks should have answered: {:?}", outcome.results).into());
                    }
                }
                Ok(began.elapsed().as_secs_f64() * 1e9 / times as f64)
            });
            let ns = runtime.block_on(task)?.map_err(|error: Box<dyn std::error::Error + Send + Sync>| error)?;
            Ok(json!({"ns": ns}))
        }
        other => Err(format!("{other:?} is not known").into()),
    }
}
