//! The cheapest hook there can be: reads standard input to its end, writes `{}`, exits with 0.
//!
//! No libc, no start-up code, no relocation: what starting it costs is what the kernel charges for a process. The
//! benchmark compiles it with `rustc`; it is no part of any crate, so its unsafe code is argued here. There are three
//! system calls, made by hand. Each touches only memory this program owns (a static buffer and a constant), and a failure
//! ends the program.

#![no_std]
#![no_main]

use core::arch::{asm, naked_asm};

const READ: usize = if cfg!(target_arch = "x86_64") { 0 } else { 63 };
const WRITE: usize = if cfg!(target_arch = "x86_64") { 1 } else { 64 };
const EXIT: usize = if cfg!(target_arch = "x86_64") { 60 } else { 93 };

const CHUNK: usize = 64 * 1024;
static mut BUFFER: [u8; CHUNK] = [0; CHUNK];

/// Linux gives a process an aligned stack and no return address; the call makes both what compiled code expects.
#[cfg(target_arch = "x86_64")]
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn _start() -> ! {
    naked_asm!("xor ebp, ebp", "call {main}", "ud2", main = sym main)
}

#[cfg(target_arch = "aarch64")]
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn _start() -> ! {
    naked_asm!("mov x29, xzr", "bl {main}", "brk #1", main = sym main)
}

extern "C" fn main() -> ! {
    // SAFETY: there is one thread, and only the kernel writes the buffer.
    while unsafe { call(READ, 0, (&raw mut BUFFER) as usize, CHUNK) } > 0 {}
    let answer = b"{}\n";
    // SAFETY: the kernel reads three bytes of a constant.
    unsafe { call(WRITE, 1, answer.as_ptr() as usize, answer.len()) };
    loop {
        // SAFETY: it does not come back.
        unsafe { call(EXIT, 0, 0, 0) };
    }
}

/// One system call.
#[cfg(target_arch = "x86_64")]
unsafe fn call(number: usize, first: usize, second: usize, third: usize) -> isize {
    let answer;
    // SAFETY: the caller vouches for the arguments; the kernel leaves all other registers alone.
    unsafe {
        asm!("syscall", inlateout("rax") number => answer, in("rdi") first, in("rsi") second, in("rdx") third,
            lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    answer
}

#[cfg(target_arch = "aarch64")]
unsafe fn call(number: usize, first: usize, second: usize, third: usize) -> isize {
    let answer;
    // SAFETY: the caller vouches for the arguments; the kernel leaves all other registers alone.
    unsafe {
        asm!("svc 0", in("x8") number, inlateout("x0") first => answer, in("x1") second, in("x2") third,
            options(nostack));
    }
    answer
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
