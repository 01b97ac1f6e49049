//! The system calls that processes in a sandbox may make.
//!
//! A call that is not in these tables returns `ENOSYS`, as on a kernel that does not have it: libraries then use another call or
//! do without, and a call that a later kernel gains is refused until it is known to be harmless. Landlock judges which files are
//! opened, created, moved and removed. Left out is what has an effect outside that Landlock does not judge.

use libc::*;

/// Calls that are allowed, after the reason.
pub(super) type Group = (&'static str, &'static [c_long]);

/// A call that is allowed if all conditions of one of its forms hold, after the reason.
pub(super) type ConditionalCall = (&'static str, c_long, &'static [&'static [Condition]]);

/// A condition about an argument, which is counted from 0.
#[derive(Clone, Copy)]
pub(super) enum Condition {
    /// Its lower half is this number. The kernel reads no more of a number.
    Is(u8, u32),
    /// Its lower half is not this number.
    IsNot(u8, u32),
    /// Its lower half is one of these numbers.
    Between(u8, u32, u32),
    /// These bits of its lower half have this value.
    Bits(u8, u32, u32),
    /// It is a null pointer.
    Null(u8),
}

use Condition::{Between, Bits, Is, IsNot, Null};

/// Numbers that the libc crate does not have. They are the same on every processor.
mod recent {
    pub(super) const CACHESTAT: libc::c_long = 451;
    pub(super) const MAP_SHADOW_STACK: libc::c_long = 453;
    pub(super) const FUTEX_WAKE: libc::c_long = 454;
    pub(super) const FUTEX_WAIT: libc::c_long = 455;
    pub(super) const FUTEX_REQUEUE: libc::c_long = 456;
    pub(super) const STATMOUNT: libc::c_long = 457;
    pub(super) const LISTMOUNT: libc::c_long = 458;
    pub(super) const GETXATTRAT: libc::c_long = 464;
    pub(super) const LISTXATTRAT: libc::c_long = 465;
    pub(super) const FILE_GETATTR: libc::c_long = 468;
}

/// The calls that are allowed with all arguments.
#[rustfmt::skip]
pub(super) const ALLOWED: &[Group] = &[
    ("the process's own memory", &[
        SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_mincore, SYS_msync, SYS_mlock,
        SYS_mlock2, SYS_mlockall, SYS_munlock, SYS_munlockall, SYS_mseal, SYS_membarrier, SYS_memfd_create,
        SYS_pkey_alloc, SYS_pkey_free, SYS_pkey_mprotect, SYS_get_mempolicy, SYS_set_mempolicy, SYS_mbind,
        recent::MAP_SHADOW_STACK,
    ]),
    ("locks between threads, which reach the process's own memory only", &[
        SYS_futex, SYS_futex_waitv, recent::FUTEX_WAIT, recent::FUTEX_WAKE, recent::FUTEX_REQUEUE,
        SYS_set_robust_list, SYS_get_robust_list, SYS_rseq, SYS_set_tid_address,
    ]),
    ("descriptors that are open: Landlock has judged how they were opened", &[
        SYS_read, SYS_readv, SYS_pread64, SYS_preadv, SYS_preadv2, SYS_write, SYS_writev, SYS_pwrite64, SYS_pwritev,
        SYS_pwritev2, SYS_lseek, SYS_close, SYS_close_range, SYS_dup, SYS_dup3, SYS_pipe2, SYS_flock, SYS_sendfile,
        SYS_splice, SYS_tee, SYS_vmsplice, SYS_copy_file_range, SYS_fsync, SYS_fdatasync,
        SYS_fallocate, SYS_ftruncate, SYS_fadvise64, SYS_readahead, recent::CACHESTAT,
    ]),
    ("waiting for descriptors", &[
        SYS_ppoll, SYS_pselect6, SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_pwait, SYS_epoll_pwait2, SYS_eventfd2,
        SYS_signalfd4, SYS_timerfd_create, SYS_timerfd_gettime, SYS_timerfd_settime, SYS_inotify_init1,
        SYS_inotify_add_watch, SYS_inotify_rm_watch,
    ]),
    ("files by their paths: Landlock judges each of these", &[
        SYS_openat, SYS_openat2, SYS_truncate, SYS_mkdirat, SYS_mknodat, SYS_unlinkat, SYS_renameat2,
        SYS_linkat, SYS_symlinkat,
    ]),
    ("reading what is known about files", &[
        SYS_fstat, SYS_newfstatat, SYS_statx, SYS_statfs, SYS_fstatfs, SYS_faccessat, SYS_faccessat2, SYS_readlinkat,
        SYS_getdents64, SYS_getcwd, SYS_getxattr, SYS_lgetxattr, SYS_fgetxattr, SYS_listxattr, SYS_llistxattr,
        SYS_flistxattr, SYS_name_to_handle_at, recent::GETXATTRAT, recent::LISTXATTRAT, recent::FILE_GETATTR,
        recent::STATMOUNT, recent::LISTMOUNT,
    ]),
    ("the process's own place and defaults", &[SYS_chdir, SYS_fchdir, SYS_umask]),
    ("starting and ending processes, which inherit these rules", &[
        SYS_execve, SYS_execveat, SYS_exit, SYS_exit_group, SYS_wait4, SYS_waitid, SYS_pidfd_open,
    ]),
    ("signals: Landlock keeps them inside of the sandbox", &[
        SYS_kill, SYS_tkill, SYS_tgkill, SYS_pidfd_send_signal, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo,
        SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigpending, SYS_rt_sigreturn, SYS_rt_sigsuspend,
        SYS_rt_sigtimedwait, SYS_sigaltstack, SYS_restart_syscall,
    ]),
    ("who the process is, which the kernel lets it change to less only", &[
        SYS_getpid, SYS_gettid, SYS_getppid, SYS_getpgid, SYS_setpgid, SYS_getsid, SYS_setsid, SYS_getuid, SYS_geteuid,
        SYS_getgid, SYS_getegid, SYS_getresuid, SYS_getresgid, SYS_getgroups, SYS_setuid, SYS_setgid, SYS_setreuid,
        SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setfsuid, SYS_setfsgid, SYS_setgroups, SYS_capget, SYS_capset,
        SYS_personality,
    ]),
    ("more restrictions, for example a sandbox in this one", &[
        SYS_seccomp, SYS_landlock_create_ruleset, SYS_landlock_add_rule, SYS_landlock_restrict_self,
    ]),
    ("reading limits, priorities and usage", &[
        SYS_getrusage, SYS_times, SYS_getpriority, SYS_ioprio_get, SYS_sched_getaffinity,
        SYS_sched_getattr, SYS_sched_getparam, SYS_sched_getscheduler, SYS_sched_get_priority_max,
        SYS_sched_get_priority_min, SYS_sched_rr_get_interval, SYS_sched_yield, SYS_getcpu, SYS_sysinfo, SYS_uname,
        SYS_getrandom,
    ]),
    ("reading clocks, and timers of the process", &[
        SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep, SYS_gettimeofday, SYS_nanosleep, SYS_getitimer,
        SYS_setitimer, SYS_timer_create, SYS_timer_delete, SYS_timer_getoverrun, SYS_timer_gettime, SYS_timer_settime,
    ]),
    ("sockets that are open: without network these are pairs", &[
        SYS_sendmsg, SYS_sendmmsg, SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_shutdown, SYS_getsockname,
        SYS_getpeername, SYS_getsockopt, SYS_setsockopt,
    ]),
    #[cfg(target_arch = "x86_64")]
    ("older forms of calls in the groups above, and limits of the process itself", &[
        SYS_arch_prctl, SYS_open, SYS_creat, SYS_mkdir, SYS_rmdir, SYS_mknod, SYS_unlink, SYS_rename, SYS_link,
        SYS_symlink, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_getdents, SYS_dup2, SYS_pipe, SYS_poll,
        SYS_select, SYS_epoll_create, SYS_epoll_wait, SYS_eventfd, SYS_signalfd, SYS_inotify_init, SYS_fork, SYS_vfork,
        SYS_getpgrp, SYS_time, SYS_alarm, SYS_pause, SYS_renameat, SYS_sync_file_range, SYS_getrlimit, SYS_setrlimit,
    ]),
    // The libc crate does not have them for this processor.
    #[cfg(target_arch = "aarch64")]
    ("`renameat`, `sync_file_range`, `getrlimit` and `setrlimit`, as in the groups above", &[38, 84, 163, 164]),
];

/// The further calls that are allowed with network.
#[rustfmt::skip]
pub(super) const ALLOWED_WITH_NETWORK: &[Group] = &[("sockets work as outside of the sandbox", &[
    SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_sendto,
])];

/// The calls that are allowed in some forms.
#[rustfmt::skip]
pub(super) const ALLOWED_FORMS: &[ConditionalCall] = &[
    // `clone3` has its flags in memory, which a filter cannot read. Without it libraries use `clone`.
    ("threads and processes without namespaces of their own, in which every user is root", SYS_clone, &[
        &[Bits(0, NAMESPACES, 0)],
    ]),
    // Files that were opened for reading can be changed with requests: their flags, their verity, a snapshot of a folder.
    ("terminals, and requests that read or that say how a descriptor behaves", SYS_ioctl, &[
        // `TCGETS` to `TCFLSH`, without what changes the controlling terminal.
        &[Between(1, 0x5401, 0x540b)],
        // `TIOCGPGRP`, `TIOCSPGRP`, `TIOCOUTQ`.
        &[Between(1, 0x540f, 0x5411)],
        // `TIOCGWINSZ`, `TIOCSWINSZ`.
        &[Between(1, 0x5413, 0x5414)],
        // `FIONREAD`, `FIONBIO`, `TIOCNOTTY`, `TIOCGSID`, `TIOCGPTPEER`.
        &[Is(1, 0x541b)],
        &[Between(1, 0x5421, 0x5422)],
        &[Is(1, 0x5429)],
        &[Is(1, 0x5441)],
        // `TCGETS2`, `TCSETS2`, `TCSETSW2`, `TCSETSF2`, `TIOCGPTN`, `TIOCSPTLCK`.
        &[Is(1, 0x802c_542a)],
        &[Between(1, 0x402c_542b, 0x402c_542d)],
        &[Is(1, 0x8004_5430)],
        &[Is(1, 0x4004_5431)],
        // `FIONCLEX`, `FIOCLEX`, `FIOASYNC`.
        &[Between(1, 0x5450, 0x5452)],
        // `FS_IOC_GETFLAGS`, `FS_IOC_FSGETXATTR`, `FS_IOC_FIEMAP`, `FICLONE`, `FICLONERANGE`: a clone needs a descriptor
        // for writing.
        &[Is(1, 0x8008_6601)],
        &[Is(1, 0x801c_581f)],
        &[Is(1, 0xc020_660b)],
        &[Is(1, 0x4004_9409)],
        &[Is(1, 0x4020_940d)],
        // `SIOCATMARK`, and the requests that read names and addresses of network interfaces.
        &[Is(1, 0x8905)],
        &[Between(1, 0x8910, 0x8913)],
        &[Is(1, 0x8915)],
        &[Is(1, 0x8919)],
        &[Is(1, 0x891b)],
        &[Is(1, 0x8921)],
        &[Is(1, 0x8927)],
        &[Is(1, 0x8933)],
    ]),
    // Leases stop others that open a file; hints are kept with the file.
    ("descriptors and locks, without leases, notifications and hints", SYS_fcntl, &[
        &[Between(1, 0, 38)],
        &[Between(1, 1027, 1028)],
        &[Between(1, 1030, 1035)],
    ]),
    ("the process itself, without the groups of processes that share a core", SYS_prctl, &[&[IsNot(0, 62)]]),
    ("limits of the process itself", SYS_prlimit64, &[&[Is(0, 0)]]),
    ("processors of the thread itself", SYS_sched_setaffinity, &[&[Is(0, 0)]]),
    ("scheduling of the thread itself", SYS_sched_setattr, &[&[Is(0, 0)]]),
    ("scheduling of the thread itself", SYS_sched_setparam, &[&[Is(0, 0)]]),
    ("scheduling of the thread itself", SYS_sched_setscheduler, &[&[Is(0, 0)]]),
    // The first argument says whether the second is a process, a group or a user.
    ("priority of the thread itself", SYS_setpriority, &[&[Is(0, 0), Is(1, 0)]]),
    ("priority of the thread itself", SYS_ioprio_set, &[&[Is(0, 1), Is(1, 0)]]),
    // Sockets for datagrams could be sent to any service by its address, also those of a pair.
    ("pairs of connected sockets, which reach nothing but each other", SYS_socketpair, &[
        &[Is(0, AF_UNIX as u32), Bits(1, SOCKET_TYPE, SOCK_STREAM as u32)],
        &[Is(0, AF_UNIX as u32), Bits(1, SOCKET_TYPE, SOCK_SEQPACKET as u32)],
    ]),
    ("sending to the other end", SYS_sendto, &[&[Null(4)]]),
];

/// The flags of `clone` for new namespaces.
const NAMESPACES: u32 =
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET) as u32;

/// The bits of a socket's type that are not flags.
const SOCKET_TYPE: u32 = 0xf;
