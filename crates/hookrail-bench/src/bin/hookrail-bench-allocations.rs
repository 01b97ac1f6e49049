//! Counts the allocations of the engine when no hook wants an event. It is a separate program because counting needs a
//! special allocator, which must not be in a program that is timed.

use std::alloc::System;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Waker};

use hookrail::{Environment, EventKind, HookSystem, Json};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// How often each call is made. The sum is reported.
const CALLS: usize = 1_000;

fn main() {
    let place = hookrail_testkit::TestProject::new();
    let environment = Environment::new().with("HOME", &place.home);
    let off = HookSystem::builder(&place.project).environment(environment.clone()).hooks_off("counting").build();
    let none = HookSystem::builder(&place.project).environment(environment).build();
    let input = Json::empty_object();
    let asking = counted(|| {
        assert_unwanted(black_box(&off).has_hooks_for(EventKind::BeforeTool));
        assert_unwanted(black_box(&none).has_hooks_for(EventKind::BeforeTool));
    });
    let firing = counted(|| {
        let mut fire = pin!(none.fire_before_tool("write_file", input.clone()));
        let _ = black_box(fire.as_mut().poll(&mut Context::from_waker(Waker::noop())));
    });
    // Checks the counter itself: if it does not count, a result of zero means nothing.
    let known = counted(|| drop(black_box(Box::new(1))));
    println!("{}", serde_json::json!({"wants": asking, "fire": firing, "box": known}));
}

fn assert_unwanted(wanted: bool) {
    assert!(!wanted, "no hook should want the event");
}

/// How many allocations the calls make.
fn counted(mut call: impl FnMut()) -> usize {
    let region = Region::new(ALLOCATOR);
    for _ in 0..CALLS {
        call();
    }
    let change = region.change();
    change.allocations + change.reallocations
}
