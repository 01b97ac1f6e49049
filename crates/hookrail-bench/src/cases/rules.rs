//! Rules: what they cost an event that none of them is about, a shell line, and a call that one of them denies.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use hookrail::{EventKind, HookSystem, Json};
use hookrail_shell::{Scene, accesses, parse};
use serde_json::{Value, json};
use tree_sitter::Parser;

use super::BenchCase;
use super::off::microsecond;
use crate::BenchResult;
use crate::harness::{PreparedCase, Variant, nanoseconds_each};
use crate::lab::{Lab, Shell, TOOL, line, tool_input};

pub(crate) fn cases() -> Vec<BenchCase> {
    vec![
        BenchCase { name: "rules-100", title: "100 rules, an event of 1 KiB that none is about", prepare: hundred },
        BenchCase { name: "accesses", title: "what a dense line of 200 bytes would do", prepare: dense },
        BenchCase { name: "accesses-lines", title: "what the lines of the corpus would do", prepare: lines },
        BenchCase { name: "rule-script", title: "one guard as a rule and as a script of bash", prepare: script },
    ]
}

/// Lines that were run and watched.
const CORPUS: &str = include_str!("../../../hookrail-shell/tests/it/corpus.jsonl");
/// A line of 200 bytes with hardly a letter that means nothing.
const DENSE: &str = "a=1; (b && c || d) | e > f 2>&1; if [ -f g ]; then h $a \"$(i j)\" 'k'; else l; fi; for m in n o; do p $m; done; \
    q() { r; }; case $s in t) u;; *) v;; esac; w <<< x & y {1,2} ~/z *.a; [[ b =~ c ]] && d";
/// How often a line is read in one measurement.
const TIMES: u32 = 50;

fn folder_of_user(lab: &Lab, rules: &str) -> BenchResult<PathBuf> {
    let folder = lab.new_path("user");
    std::fs::create_dir_all(folder.join("hookrail"))?;
    std::fs::write(folder.join("hookrail/rules.toml"), rules)?;
    Ok(folder)
}

/// A system of hooks with these rules of its user.
fn system(lab: &Lab, rules: &str) -> BenchResult<HookSystem> {
    let folder = folder_of_user(lab, rules)?;
    let environment = lab.environment(Shell::Sh).with("XDG_CONFIG_HOME", folder);
    Ok(HookSystem::builder(lab.project(&json!([]))?).environment(environment).build())
}

fn fired(name: &str, what: &str, system: HookSystem, tool: &'static str, input: Json, denied: bool) -> Variant {
    let times = if denied { 20 } else { 500 };
    Variant::timed(name, what, times, move || {
        let event = system.event(EventKind::BeforeTool).session("bench").with_text("tool_name", tool);
        let outcome = system.fire_blocking(event.with("tool_input", input.clone()));
        match outcome.effects.decision.is_some() == denied {
            true => Ok(()),
            false => Err(format!("{:?} was decided", outcome.effects.decision).into()),
        }
    })
}

/// Rules of the usual kinds, none of which is about the event.
fn hundred(lab: &Lab) -> BenchResult<PreparedCase> {
    let rule = |number: usize| {
        let when = match number % 5 {
            0 => format!("deletes = {{ outside = [\"project\", \"/scratch{number}\"] }}"),
            1 => format!("touches = [\"**/.env{number}\", \"/**/.env{number}\"]"),
            2 => format!("commands = [\"tool{number} publish\", \"tool{number} push -f\"]"),
            3 => format!("tool = \"mcp__server{number}__*\""),
            _ => "git = [\"push-force\", \"discard\"]".to_owned(),
        };
        format!("[[rule]]\nname = \"r{number}\"\ndeny = \"no\"\nwhen = {{ {when} }}\n")
    };
    let rules: String = (0..100).map(rule).collect();
    let mut case = PreparedCase::default();
    case.add(microsecond());
    let input = tool_input(1024)?;
    case.add(fired("hookrail-100", "100 rules", system(lab, &rules)?, TOOL, input.clone(), false));
    case.add(fired("hookrail", "no rule", system(lab, "# An empty file would be unusable.\n")?, TOOL, input, false));
    Ok(case)
}

fn scene() -> Scene<'static> {
    Scene { project: "/w/project", cwd: "/w/project", home: "/home/u", surroundings: &() }
}

fn followed(name: &str, what: &str, line: String) -> Variant {
    Variant::timed(name, what, TIMES, move || {
        black_box(accesses(&parse(black_box(&line)), &scene()));
        Ok(())
    })
}

fn dense(_lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into())?;
    case.add(Variant::timed("floor", "the parser of tree-sitter-bash", TIMES, move || {
        black_box(parser.parse(black_box(DENSE), None)).map(drop).ok_or_else(|| "there is no tree".into())
    }));
    case.add(followed("hookrail", "accesses", DENSE.to_owned()));
    Ok(case)
}

/// How often each of the worst lines is measured.
const WORST_TIMES: usize = 5;

/// The longest line that is read, in bytes.
const LONGEST: usize = 128 << 10;

/// Lines that are made to take long: each is as long as a line can be, and ends at a limit.
fn worst() -> Vec<String> {
    let repeated = [
        "(",
        ")",
        "|",
        "{ ",
        "$(",
        "${x:-",
        "[[ ",
        "((",
        "<(",
        "if ",
        "case x in ",
        "case a in b)c;;esac;",
        "a=(",
        "{a,",
        "{a,b}",
        "{1..4095} ",
        "f() { ",
        "a;",
        "a|",
        "a| ;",
        "a)b ",
        "$(a) ",
        "<a ",
        "a&&cd b;",
        "while a;do cd b;done;",
        "eval ",
        "sudo ",
        "rm $x ",
        "ssh a ",
        "docker run a ",
        "git -c a=b ",
        "x=$x$x;",
        "echo {1..4000};",
        "echo 'sh x;sh x'>x;sh x;",
    ];
    let behind = [
        ("cp ", "a "),
        ("rm ", "-a "),
        ("zzz ", "git "),
        ("curl -O ", "a "),
        ("curl -", "a"),
        ("tar x", "f"),
        ("tar ", "-C a "),
        ("find . ", "-delete "),
        ("find . -exec rm ", "{} "),
        ("echo a|xargs -I{} rm ", "{} "),
        ("sed -i p ", "a "),
        ("awk '", "print>\"a\";"),
        ("export ", "a "),
        ("cat>f<<x\n", "$b\n"),
        ("ed<<x\n", "w a\n"),
        ("cd ", "a/"),
        ("for i in {1..64};do rm ", "a "),
        ("a=({1..4095});b=(", "\"${a[@]}\" "),
        ("set -- {1..4000};", "A=1 b;"),
        ("x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;echo ", "${x//*a*b/c} "),
    ];
    let heads = repeated.map(|part| ("", part)).into_iter().chain(behind);
    let filled = |(head, part): (&str, &str)| format!("{head}{}", part.repeat((LONGEST - head.len()) / part.len()));
    let mut lines: Vec<String> = heads.map(filled).collect();
    let half = LONGEST / 2;
    lines.extend([
        format!("x={};x=$x$x;rm {}", "a".repeat(half - 20), "$x ".repeat(half / 3)),
        format!("cd {};rm {}", "a/".repeat(half / 2 - 10), "a ".repeat(half / 2)),
        format!("curl -O {};cat {}", "a ".repeat(half / 2 - 10), "a ".repeat(half / 2 - 10)),
        format!("find {} {}", "a ".repeat(half / 2 - 10), "-name b -o ".repeat(half / 11)),
        format!("{}{}{}", "$(".repeat(15), "a ".repeat(half - 30), ")".repeat(15)),
        "for a in {1..99}; do for b in {1..99}; do for c in {1..99}; do echo $a$b$c; done; done; done".to_owned(),
        "x".repeat(1 << 20),
    ]);
    lines
}

fn lines(_lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let measured = |line: &str, times: u32| {
        let began = Instant::now();
        for _ in 0..times {
            black_box(accesses(&parse(black_box(line)), &scene()));
        }
        nanoseconds_each(began.elapsed(), times) / 1_000.0
    };
    let corpus = CORPUS.lines().filter_map(|case| serde_json::from_str::<Value>(case).ok());
    let corpus: Vec<String> = corpus.filter_map(|case| case.get("line")?.as_str().map(str::to_owned)).collect();
    let mut times: Vec<f64> = corpus.iter().map(|line| measured(line, 20)).collect();
    times.sort_by(f64::total_cmp);
    let median = times.get(times.len() / 2).copied().ok_or("there are no lines")?;
    // The median of a few: one alone is as often the machine's worst moment as the line's.
    let median_of = |line: &String| {
        let mut times: Vec<f64> = (0..WORST_TIMES).map(|_| measured(line, 1)).collect();
        times.sort_by(f64::total_cmp);
        times.get(WORST_TIMES / 2).copied().unwrap_or(f64::INFINITY)
    };
    let worst = worst().iter().map(median_of).fold(0.0, f64::max);
    case.value("median", "microseconds", median);
    case.value("worst", "microseconds", worst);
    Ok(case)
}

/// The same guard: no file is deleted outside of the project.
fn script(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let input = Json::of(&json!({ "command": "rm -rf ../other" }))?;
    let rule = "[[rule]]\nname = \"outside\"\ndeny = \"no\"\nwhen = { deletes = { outside = \"project\" } }\n";
    let of_rule = system(lab, rule)?;
    case.add(fired("hookrail-rule", "a rule", of_rule, "run_shell_command", input.clone(), true));
    let guard = "case \"$(cat)\" in *'rm -rf ..'*) echo no >&2; exit 2;; esac";
    let project = lab.project(&json!([{ "matcher": "^run_shell_command$", "hooks": [line(guard)] }]))?;
    let of_script = lab.system(&project, Shell::Bash);
    case.add(fired("hookrail-script", "a script", of_script, "run_shell_command", input, true));
    Ok(case)
}
