//! Reads `/proc/PID/stat` and `/proc/PID/task/TID/stat`.

/// Facts about a process, with its ended threads, or about one thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stat {
    /// Name, of at most 15 bytes.
    pub(crate) name: String,
    /// Letter of the state: R, S, D, T, Z …
    pub(crate) state: char,
    /// Page faults that waited for a disk.
    pub(crate) major_faults: u64,
    /// Processor time in user mode, in ticks.
    pub(crate) user_ticks: u64,
    /// Processor time in the kernel, in ticks.
    pub(crate) system_ticks: u64,
    /// Number of threads of the process.
    pub(crate) threads: u64,
    /// Start, in ticks since the system started.
    pub(crate) start_ticks: u64,
    /// Resident memory of the process in pages.
    pub(crate) resident_pages: u64,
    /// Status with which a process has ended that its parent has not waited for, in the form of
    /// `wait`. It is 0 for other users' processes, too.
    pub(crate) wait_status: u32,
}

impl Stat {
    /// Reads `4711 (name) S …`. The name may contain parentheses and spaces.
    pub(crate) fn parse(text: &str) -> Option<Stat> {
        let (front, rest) = text.rsplit_once(')')?;
        let (_, name) = front.split_once('(')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        // Numbers of fields are those of proc(5), where the state is field 3.
        let field =
            |number: usize| -> Option<u64> { fields.get(number.checked_sub(3)?)?.parse().ok() };
        Some(Stat {
            name: name.to_owned(),
            state: fields.first()?.chars().next()?,
            major_faults: field(12)?,
            user_ticks: field(14)?,
            system_ticks: field(15)?,
            threads: field(20).unwrap_or(0),
            start_ticks: field(22).unwrap_or(0),
            resident_pages: field(24).unwrap_or(0),
            wait_status: field(52).and_then(|status| u32::try_from(status).ok()).unwrap_or(0),
        })
    }

    /// Returns whether the process or thread has ended. A process whose first thread has ended goes
    /// on as long as it has others.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x') && self.threads <= 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_look_like_what_follows_it() {
        let text = "7 (a) S (b) R 1 7 7 0 -1 4194304 100 0 3 0 12 34 0 0 20 0 5 0 9 4096 77\n";
        let stat = Stat::parse(text).unwrap();
        assert_eq!((stat.name.as_str(), stat.state), ("a) S (b", 'R'));
        assert_eq!((stat.major_faults, stat.user_ticks, stat.system_ticks), (3, 12, 34));
        assert_eq!((stat.threads, stat.start_ticks, stat.resident_pages), (5, 9, 77));
        assert_eq!(Stat::parse("7 (a) S 1"), None);
        assert_eq!(Stat::parse(""), None);
    }

    #[test]
    fn a_process_that_was_not_waited_for_has_its_status_at_the_end() {
        let fields = ["0"; 48].join(" ");
        let stat = Stat::parse(&format!("7 (a) Z {fields} 139 ")).unwrap();
        assert_eq!((stat.wait_status, stat.has_ended()), (139, true));
    }
}
