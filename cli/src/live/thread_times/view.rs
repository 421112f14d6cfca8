//! Readings of a process that a view shows, round by round.

use super::rows::{Row, RowKind};
use nettrace_analysis::live::ThreadNow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of rows that wait for a view that does not take them.
const MAX_WAITING_ROWS: usize = 100_000;

/// Rows that wait for a view.
#[derive(Debug, Clone, Default)]
pub(crate) struct ViewRows(Arc<Mutex<Vec<Row>>>);

impl ViewRows {
    /// Takes the rows of a round. Beyond the maximum, those before are dropped.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux has readings"))]
    pub(super) fn add(&self, rows: &mut Vec<Row>) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() + rows.len() > MAX_WAITING_ROWS {
            waiting.clear();
        }
        waiting.append(rows);
    }

    fn take(&self) -> Vec<Row> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Threads of a process as the latest reading shows them.
#[derive(Debug, Default)]
pub(crate) struct ThreadsNow {
    rows: ViewRows,
    /// Threads by OS id in the namespace of the process.
    threads: BTreeMap<u64, ReadThread>,
}

/// Thread with its latest numbers.
#[derive(Debug, Default)]
struct ReadThread {
    name: String,
    ran_ns: u64,
    ready_ns: u64,
}

impl ThreadsNow {
    /// Returns where the rows of the process are to be put.
    pub(crate) fn rows(&self) -> ViewRows {
        self.rows.clone()
    }

    /// Takes the rows since the last call, and passes each round to `round`: its time in ticks of the
    /// session, the processor time of the process, and all threads.
    pub(crate) fn look(&mut self, mut round: impl FnMut(u64, u64, &[ThreadNow<'_>])) {
        for row in self.rows.take() {
            match row.kind {
                RowKind::ThreadTime(time) => {
                    let thread = self.threads.entry(time.thread).or_default();
                    (thread.ran_ns, thread.ready_ns) = (time.ran_ns, time.ready_ns);
                }
                RowKind::ThreadName { thread, name, .. } => {
                    self.threads.entry(thread).or_default().name = name;
                }
                RowKind::ThreadEnd { thread } => drop(self.threads.remove(&thread)),
                RowKind::Process(total) => {
                    let threads = self.threads.iter().map(|(id, thread)| ThreadNow {
                        id: *id,
                        name: &thread.name,
                        ran_ns: thread.ran_ns,
                        ready_ns: thread.ready_ns,
                    });
                    let threads: Vec<ThreadNow<'_>> = threads.collect();
                    round(row.ticks, total.user_ns.saturating_add(total.system_ns), &threads);
                }
                RowKind::Machine(_) | RowKind::Group(_) | RowKind::End(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::{ProcessTotal, ThreadTime};
    use super::*;

    fn time(thread: u64, ran_ns: u64) -> RowKind {
        RowKind::ThreadTime(ThreadTime { thread, ran_ns, ..ThreadTime::default() })
    }

    #[test]
    fn each_round_has_all_living_threads_with_their_latest_numbers() {
        let mut now = ThreadsNow::default();
        let name =
            |thread| RowKind::ThreadName { thread, name: "worker".to_owned(), born_ticks: 0 };
        let total = RowKind::Process(ProcessTotal { user_ns: 5, ..ProcessTotal::default() });
        let kinds = [
            name(1),
            time(1, 10),
            time(2, 20),
            total.clone(),
            time(1, 11),
            total.clone(),
            RowKind::ThreadEnd { thread: 1 },
            total,
        ];
        let mut rows = kinds.into_iter().zip(100..).map(|(kind, ticks)| Row { ticks, kind });
        now.rows().add(&mut rows.by_ref().collect());
        let mut rounds = Vec::new();
        now.look(|ticks, process, threads| {
            let threads: Vec<_> = threads.iter().map(|it| (it.id, it.ran_ns)).collect();
            rounds.push((ticks, process, threads));
        });
        let expected = [
            (103, 5, vec![(1, 10), (2, 20)]),
            (105, 5, vec![(1, 11), (2, 20)]),
            (107, 5, vec![(2, 20)]),
        ];
        assert_eq!(rounds, expected);
        now.look(|_, _, _| panic!("all rows were taken"));
    }

    #[test]
    fn a_view_that_takes_no_rows_lets_none_pile_up() {
        let rows = ViewRows::default();
        for ticks in 0..1000 {
            let row = Row { ticks, kind: time(1, 0) };
            rows.add(&mut vec![row; MAX_WAITING_ROWS / 7]);
        }
        assert!(rows.take().len() <= MAX_WAITING_ROWS);
    }
}
