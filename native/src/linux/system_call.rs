//! `/proc/PID/task/TID/syscall`: the place where a thread is blocked.
//!
//! | the thread | text |
//! |---|---|
//! | runs, or is about to run | `running` |
//! | is blocked outside of a system call, such as in a page fault | `-1 SP PC` |
//! | is blocked in a system call | `NUMBER`, six arguments, `SP PC` |
//!
//! The number is decimal, and everything else is hexadecimal with `0x` in front.

/// What a thread does, according to the kernel's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    Running,
    Blocked(WaitPlace),
}

/// The place at which a thread is blocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WaitPlace {
    /// Number of the system call; `None` outside of a system call.
    pub(super) system_call: Option<u64>,
    pub(super) stack_pointer: u64,
    /// Address of the instruction to which the thread returns.
    pub(super) instruction: u64,
}

/// Parses the kernel's text. Returns `None` if the text has another form.
pub(super) fn parse(text: &str) -> Option<Doing> {
    let mut words = text.split_ascii_whitespace();
    let first = words.next()?;
    if first == "running" {
        return words.next().is_none().then_some(Doing::Running);
    }
    let rest: Vec<u64> = words.map(hexadecimal).collect::<Option<_>>()?;
    let (system_call, stack_pointer, instruction) = match rest[..] {
        [stack, instruction] if first == "-1" => (None, stack, instruction),
        [_, _, _, _, _, _, stack, instruction] => (Some(first.parse().ok()?), stack, instruction),
        _ => return None,
    };
    Some(Doing::Blocked(WaitPlace { system_call, stack_pointer, instruction }))
}

fn hexadecimal(word: &str) -> Option<u64> {
    let digits = word.strip_prefix("0x")?;
    // `from_str_radix` would take a sign.
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_plain.then(|| u64::from_str_radix(digits, 16).ok())?
}

/// Returns the name of a system call if it is one in which threads usually wait, otherwise its
/// number.
pub(super) fn name(number: u64) -> String {
    let known = NAMES.iter().find(|(known, _)| *known == number);
    known.map_or_else(|| number.to_string(), |(_, name)| (*name).to_owned())
}

#[cfg(target_arch = "x86_64")]
const NAMES: &[(u64, &str)] = &[
    (0, "read"),
    (1, "write"),
    (2, "open"),
    (7, "poll"),
    (17, "pread64"),
    (18, "pwrite64"),
    (19, "readv"),
    (20, "writev"),
    (23, "select"),
    (35, "nanosleep"),
    (42, "connect"),
    (43, "accept"),
    (44, "sendto"),
    (45, "recvfrom"),
    (46, "sendmsg"),
    (47, "recvmsg"),
    (61, "wait4"),
    (72, "fcntl"),
    (73, "flock"),
    (74, "fsync"),
    (75, "fdatasync"),
    (128, "rt_sigtimedwait"),
    (130, "rt_sigsuspend"),
    (202, "futex"),
    (219, "restart_syscall"),
    (230, "clock_nanosleep"),
    (232, "epoll_wait"),
    (247, "waitid"),
    (257, "openat"),
    (270, "pselect6"),
    (271, "ppoll"),
    (281, "epoll_pwait"),
    (288, "accept4"),
    (299, "recvmmsg"),
    (426, "io_uring_enter"),
    (441, "epoll_pwait2"),
    (449, "futex_waitv"),
];

#[cfg(target_arch = "aarch64")]
const NAMES: &[(u64, &str)] = &[
    (22, "epoll_pwait"),
    (25, "fcntl"),
    (32, "flock"),
    (56, "openat"),
    (63, "read"),
    (64, "write"),
    (65, "readv"),
    (66, "writev"),
    (67, "pread64"),
    (68, "pwrite64"),
    (72, "pselect6"),
    (73, "ppoll"),
    (82, "fsync"),
    (83, "fdatasync"),
    (95, "waitid"),
    (98, "futex"),
    (101, "nanosleep"),
    (115, "clock_nanosleep"),
    (128, "restart_syscall"),
    (133, "rt_sigsuspend"),
    (137, "rt_sigtimedwait"),
    (202, "accept"),
    (203, "connect"),
    (206, "sendto"),
    (207, "recvfrom"),
    (211, "sendmsg"),
    (212, "recvmsg"),
    (242, "accept4"),
    (243, "recvmmsg"),
    (260, "wait4"),
    (426, "io_uring_enter"),
    (441, "epoll_pwait2"),
    (449, "futex_waitv"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blocked_thread_has_a_stack_pointer_and_an_instruction() {
        let text = "202 0x7f01 0x189 0x0 0x0 0x0 0xffffffff 0x7ffc10 0x7f5a77\n";
        let place =
            WaitPlace { system_call: Some(202), stack_pointer: 0x7f_fc10, instruction: 0x7f_5a77 };
        assert_eq!(parse(text), Some(Doing::Blocked(place)));
        let outside = WaitPlace { system_call: None, ..place };
        assert_eq!(parse("-1 0x7ffc10 0x7f5a77\n"), Some(Doing::Blocked(outside)));
        assert_eq!(parse("running\n"), Some(Doing::Running));
    }

    #[test]
    fn another_text_is_not_understood() {
        let wrong = [
            "",
            "\n",
            "running away",
            "-1",
            "-1 0x10",
            "-1 10 20",
            "-1 0x10 0x20 0x30",
            "-2 0x10 0x20",
            "0 0x10 0x20",
            "202 0x1 0x2 0x3 0x4 0x5 0x6 0x7",
            "202 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8 0x9",
            "-1 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8",
            "202 0x1 0x2 0x3 0x4 0x5 0x6 0x-7 0x+8",
            "202 0x1 0x2 0x3 0x4 0x5 0x6 0x0 0x10000000000000000",
            "99999999999999999999 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8",
        ];
        for text in wrong {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn system_calls_have_names_or_numbers() {
        let number = NAMES.iter().find(|(_, name)| *name == "futex").unwrap().0;
        assert_eq!((name(number), name(9999)), ("futex".to_owned(), "9999".to_owned()));
    }
}
