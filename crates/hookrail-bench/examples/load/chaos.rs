//! Clients that are killed at random: at any moment the kernel closes their connection, whatever they were doing.

use std::path::Path;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::task::JoinSet;

use hookrail_testkit::Random;

/// How many clients there are at a time.
const CLIENTS: usize = 16;

/// How many clients there were.
#[derive(Debug, Default)]
pub(crate) struct Chaos {
    /// How many were connected and then killed.
    pub(crate) killed: usize,
}

/// Starts and kills clients for so long.
pub(crate) async fn chaos(socket: &Path, duration: Duration) -> Chaos {
    let began = Instant::now();
    let mut done = Chaos::default();
    let mut clients = JoinSet::new();
    let mut random = Random::new(1);
    while began.elapsed() < duration {
        while clients.len() < CLIENTS {
            let life = Duration::from_millis(random.below(150));
            let (seed, path) = (random.draw(), socket.to_owned());
            clients.spawn(async move {
                // Dropping the future in the middle of anything is the death of the client.
                let _ = tokio::time::timeout(life, client(&path, Random::new(seed))).await;
            });
        }
        if clients.join_next().await.is_some() {
            done.killed += 1;
        }
    }
    while clients.join_next().await.is_some() {
        done.killed += 1;
    }
    done
}

/// A client that asks without end: for quick hooks, for hooks that would take minutes, for nonsense; and reads or not.
async fn client(socket: &Path, mut random: Random) -> std::io::Result<()> {
    let mut stream = UnixStream::connect(socket).await?;
    let reads = random.below(4) > 0;
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let tool = if random.below(3) == 0 { "slow" } else { "quick" };
        let line = match random.below(8) {
            0 => "garbage\n".to_owned(),
            1 => "{\"type\":\"ping\"}\n".to_owned(),
            _ => format!(
                "{{\"type\":\"HOOK_EXECUTION_REQUEST\",\"payload\":{{\"eventName\":\"BeforeTool\",\"input\":\
                 {{\"session_id\":\"s{}\",\"tool_name\":\"{tool}\",\"tool_input\":{{}}}}}}}}\n",
                random.below(5)
            ),
        };
        // Half a line is as good a moment as any.
        let part = if random.below(16) == 0 { line.len() / 2 } else { line.len() };
        stream.write_all(line.as_bytes().get(..part).unwrap_or_default()).await?;
        if reads {
            let _ = tokio::time::timeout(Duration::from_millis(random.below(10)), stream.read(&mut buffer)).await;
        } else {
            tokio::time::sleep(Duration::from_millis(random.below(10))).await;
        }
    }
}
