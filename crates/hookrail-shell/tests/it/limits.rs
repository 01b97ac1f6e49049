//! Limits: up to each of them all is known; past it that is said, and what was found stays.

use hookrail_shell::{Class, FactKind};

use super::verdicts::of_line;

/// What every line of these tests does at its beginning.
const FIRST: &str = "rm -rf /opt/app; ";

fn has_class(line: &str, class: Class) -> bool {
    of_line(line).unknown.iter().any(|unknown| unknown.why.class() == class)
}

fn is_bound(line: &str) -> bool {
    has_class(line, Class::Bound)
}

fn deletes(line: &str, path: &str) -> bool {
    of_line(line).deletes.iter().any(|fact| fact.what.path == path)
}

/// Repeats a text, in which `#` is the number of the repetition.
fn repeated(text: &str, count: usize) -> String {
    (0..count).map(|index| text.replace('#', &index.to_string())).collect()
}

type MadeLine = fn(usize) -> String;

/// Limits with what is counted: the most that is known, and a line with so many.
const LIMITS: [(&str, usize, MadeLine); 21] = [
    ("commands", 511, |n| repeated("a;", n)),
    ("code in code", 8, |n| {
        format!(
            "{}f{n}(){{ rm -rf /opt/found; }}; f1",
            (1..n).map(|i| format!("f{i}(){{ f{}; }}; ", i + 1)).collect::<String>()
        )
    }),
    ("values of a loop", 64, |n| format!("for i in{}; do rm $i; done", repeated(" a#", n))),
    ("states", 2, |n| format!("{}rm x", repeated("a && cd b#; ", n))),
    ("wrappers", 40, |n| format!("{}rm -rf /opt/found", "nice ".repeat(n))),
    ("words", 16_380, |n| format!("ls{}", " a".repeat(n))),
    ("words of braces with a dash", 4094, |n| format!("rm -- {{-1..{n}}}")),
    ("variables", 64, |n| repeated("v#=1; ", n)),
    ("variables for a program", 64, |n| format!("env {}true", repeated("v#=1 ", n))),
    ("exported variables", 64, |n| repeated("export v#; ", n)),
    ("aliases", 64, |n| repeated("alias a#=b; ", n)),
    ("functions", 64, |n| repeated("f#(){ :; }; ", n) + ":"),
    ("files that are written", 64, |n| format!("{}sh f0", repeated("echo true >f#; ", n))),
    // Each is two names: of a file, and of one in a folder of this name.
    ("files that are copied", 32, |n| format!("echo true >x; {}sh x", repeated("cp a b#; ", n))),
    ("links", 64, |n| format!("{}rm x", repeated("ln -s a# b; ", n))),
    ("substitutions", 512, |n| format!("a {}", "$()".repeat(n))),
    ("substitutions in each other", 16, |n| format!("{}a{}", "$(".repeat(n), ")".repeat(n))),
    ("structures in each other", 63, |n| format!("{}a{}", "if a; then ".repeat(n), "; fi".repeat(n))),
    ("items of xargs", 32, |n| format!("printf '%s\\n'{} | xargs -I{{}} rm {{}}", repeated(" a#", n))),
    ("items of parallel", 32, |n| format!("parallel rm :::{}", repeated(" a#", n))),
    ("prefixes of an editor", 15, |n| format!("vim -c '{}x' a", "g ".repeat(n))),
];

#[test]
fn at_a_limit_all_is_known_and_past_it_that_is_said() {
    for (name, most, line) in LIMITS {
        for (count, is_past) in [(most, false), (most + 1, true)] {
            let line = format!("{FIRST}{}", line(count));
            let shown: String = line.chars().take(200).collect();
            assert_eq!(is_bound(&line), is_past, "{name}: {count}: {shown} {:?}", of_line(&line).unknown);
            assert!(deletes(&line, "/opt/app"), "{name}: {count}: {shown}");
        }
    }
}

#[test]
fn a_line_is_read_up_to_its_longest() {
    let line = |length: usize| format!("{FIRST}{}", "a".repeat(length - FIRST.len()));
    assert!(!is_bound(&line(128 * 1024)) && deletes(&line(128 * 1024), "/opt/app"));
    assert!(is_bound(&line(128 * 1024 + 1)), "it is not looked at");
}

/// A word that is a path costs more than one that is none, and a word that a value gives more than one of the line.
#[test]
fn very_many_paths_are_not_followed() {
    for part in [" a", " $x"] {
        let line = |count: usize| format!("x=a; {FIRST}rm{}", part.repeat(count));
        assert!(!is_bound(&line(2_500)), "{part}");
        assert!(is_bound(&line(10_000)) && deletes(&line(10_000), "/opt/app"), "{part}");
    }
}

#[test]
fn a_sequence_is_a_pattern_where_it_has_too_many_words() {
    assert_eq!(of_line("rm {1..4096}").deletes.len(), 4096);
    let found = of_line("rm /opt/{1..4097}");
    assert_eq!(found.deletes.iter().map(|fact| fact.what.path.as_str()).collect::<Vec<_>>(), ["/opt/*"]);
    assert_eq!(found.unknown, []);
}

/// Each reason counts by itself, however many others there are before it.
#[test]
fn a_reason_does_not_vanish_among_others() {
    let line = |count: usize| format!("{}rm -rf \"$DIR\"", repeated("./a#; ", count));
    for count in [10, 255, 256, 300] {
        let found = of_line(&line(count)).unknown;
        let is_it = found
            .iter()
            .any(|unknown| unknown.why.class() == Class::Hidden && unknown.facts.contains(FactKind::Deletes));
        assert!(is_it, "{count}");
    }
    let faults = format!(": {}{}$(rm -rf /opt/app)", repeated("<<a# ", 17), "$()".repeat(512));
    assert!(is_bound(&faults));
}

/// What is not followed elsewhere is not followed here either.
#[test]
fn commands_of_another_machine_count() {
    let line = |count: usize| format!("ssh host '{}'; rm -rf /opt/app", "a;".repeat(count));
    assert!(!is_bound(&line(100)) && deletes(&line(100), "/opt/app"));
    assert!(is_bound(&line(600)));
}

#[test]
fn a_loop_that_goes_on_leads_anywhere() {
    assert!(is_bound("while a; do cd ..; done; rm -rf x"));
    assert!(!is_bound("while a; do cd /tmp; done; rm -rf x"), "the second time leads nowhere else");
    assert!(!is_bound("i=0; while [ $i -lt 5 ]; do rm a$i; i=$((i+1)); done"));
}

/// States that are put together keep what each of them may do.
#[test]
fn states_that_are_put_together_lose_nothing() {
    let forks = "a && v=1; b && w=1; ";
    for (first, second, used) in [
        ("f() { :; }", "f() { rm -rf /opt/app; }", "f"),
        ("f() { rm -rf /opt/app; }", "f() { :; }", "f"),
        ("alias f=ls", "alias f='rm -rf /opt/app'", "f"),
        ("alias f='rm -rf /opt/app'", "alias f=ls", "f"),
    ] {
        let line = format!("{forks}c && {{ {first}; }} || {{ {second}; }}; d && y=1; {used}");
        assert!(deletes(&line, "/opt/app"), "{line}");
    }
    let folders =
        format!("{forks}c && {{ pushd /opt; pushd /q; }} || {{ pushd /srv; pushd /q; }}; d && y=1; popd; rm -rf a");
    assert!(deletes(&folders, "/opt/a") && deletes(&folders, "/srv/a") || is_bound(&folders), "{folders}");
}

#[test]
fn texts_that_would_grow_without_end_are_not_known() {
    for line in [
        format!("x={}; rm {}", "a".repeat(30_000), "$x ".repeat(8_000)),
        format!("a=({}); rm \"${{a[@]}}\"", "{1..4095} ".repeat(5_000)),
        format!("set -- {{1..4000}}; {}", "b $@; ".repeat(500)),
        format!("cd {}; rm {}", "a".repeat(30_000), "a ".repeat(15_000)),
        format!("echo {} | xargs -I{{}} rm {}", "a".repeat(30_000), "{} ".repeat(10_000)),
        format!("for i in {{1..64}}; do rm {}; done", "a ".repeat(20_000)),
        "echo {1..4000}; ".repeat(500),
        format!("x=a; {}rm $x", "x=$x$x; ".repeat(30)),
        "echo 'sh x' >x; sh x".to_owned(),
    ] {
        let shown: String = line.chars().take(60).collect();
        assert!(is_bound(&format!("{FIRST}{line}")), "{shown}");
        assert!(deletes(&format!("{FIRST}{line}"), "/opt/app"), "{shown}");
    }
}

/// A program has its own variables and its own folder: the next command has those of the shell.
#[test]
fn what_a_program_is_given_ends_with_it() {
    for line in ["env HOME=/q true; rm -rf ~/x", "sudo HOME=/q true; rm -rf ~/x", "env HOME=/q rm y; rm -rf ~/x"] {
        assert!(deletes(line, "/home/u/x") && !deletes(line, "/q/x"), "{line}");
    }
    for line in ["make -C sub; rm -rf x", "git -C sub status; rm -rf x", "env -C sub true; rm -rf x"] {
        assert!(deletes(line, "/w/project/x") && !deletes(line, "/w/project/sub/x"), "{line}");
    }
    assert!(deletes("env HOME=/q sh -c 'rm -rf ~/x'", "/q/x"), "the program itself has them");
    assert!(deletes("builtin cd sub; rm -rf x", "/w/project/sub/x"));
}

#[test]
fn a_file_that_the_line_makes_is_what_it_was_made() {
    let python = "echo '#!/usr/bin/python\nrm -rf /opt/app' >x; ";
    assert!(deletes(&format!("{python}sh x"), "/opt/app"), "a shell reads it, whatever its first line says");
    assert!(!deletes(&format!("{python}chmod +x x; ./x"), "/opt/app"));
    // A link into the unknown, and one link behind many others.
    assert!(has_class("ln -s \"$T\" l; rm -rf l/x", Class::Hidden));
    assert!(!has_class("ln -s /opt l; rm -rf l/x", Class::Hidden) && deletes("ln -s /opt l; rm -rf l/x", "/opt/x"));
    let links = format!("{}ln -s /m l; ln -s /opt /m; rm -rf l/app", repeated("ln -s /d# l; ", 9));
    assert!(deletes(&links, "/opt/app"));
}

#[test]
fn a_host_that_the_line_hides_is_not_known() {
    for line in ["curl \"$URL\"", "curl 'http://{a,b}.com'", "wget $x.example.com", "curl http://%65vil.com"] {
        assert!(has_class(line, Class::Hidden), "{line}");
    }
    for line in ["curl http://example.com", "curl 'http://[::1]:80/'", "curl http://{a,b}.com", "wget -i list"] {
        assert!(!has_class(line, Class::Hidden), "{line}");
    }
}

#[test]
fn an_element_of_an_array_has_its_place_or_is_not_known() {
    assert!(deletes("a=(x [63]=/opt/app); rm \"${a[63]}\"", "/opt/app"));
    assert!(has_class("a=(x [64]=/opt/app); rm \"${a[64]}\"", Class::Hidden));
    assert!(has_class("n=5; a=([n]=/opt/app); rm \"${a[5]}\"", Class::Hidden));
}
