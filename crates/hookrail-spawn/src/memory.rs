//! Settings of the C library's memory: for servers, which return what they freed, and for programs that end soon.
//!
//! They change the whole process, so nothing in this crate calls them: they are for a program that owns its process.
//! They do nothing except with glibc on Linux, because other allocators return memory by themselves.

/// Makes the C library return large blocks as soon as they are freed, and limits the number of its heaps. Call it before
/// the first thread is started.
///
/// By default glibc raises its threshold to the size of the largest block that was ever freed. It then keeps such blocks in
/// each of its heaps, and creates up to eight heaps for each processor.
pub fn give_back_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const LARGE_BLOCK: libc::c_int = 128 * 1024;
        // SAFETY: the calls take integers, touch no memory of ours, and are allowed at any time; a parameter that is not
        // known is refused by the return value, which leaves everything as it was.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BLOCK);
            libc::mallopt(libc::M_TRIM_THRESHOLD, LARGE_BLOCK);
            libc::mallopt(libc::M_ARENA_MAX, 2);
        }
    }
}

/// Makes all threads share one heap, for a program that answers one question and ends. Call it before the first thread is started.
///
/// By default glibc makes a heap for every thread, and asks the system for each further page of it: 50 calls until a module is
/// loaded. The threads of such a program wait for each other, so they seldom wait for the heap.
pub fn share_one_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: as above.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Returns all free memory of the C library's heaps to the operating system. This takes milliseconds.
pub fn give_back_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call takes an integer, takes the library's own locks, and releases only pages that hold nothing.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;
    use hookrail_testkit::Holdings;

    #[test]
    fn what_was_freed_is_given_back() {
        give_back_large_blocks();
        let before = Holdings::of_this_process().memory;
        // Small blocks, with one that is kept at the end, which keeps the heap from shrinking by itself.
        let mut blocks: Vec<Vec<u8>> = (0..200_000).map(|_| vec![1; 512]).collect();
        let last = blocks.pop();
        assert!(Holdings::of_this_process().memory > before + 60 * 1024);
        drop(blocks);
        give_back_free_memory();
        assert!(Holdings::of_this_process().memory < before + 30 * 1024);
        drop(last);
    }
}
