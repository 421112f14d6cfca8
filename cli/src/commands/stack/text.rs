//! Writes the result of `stack` as text.

use super::natives::Native;
use super::seen::Seen;
use super::threads::StackedThread;
use crate::context::Context;
use crate::cut::Text;
use crate::printable::printable;
use crate::table::wrapped;
use crate::units;
use nettrace_analysis::ThreadState;
use nettrace_analysis::model::WaitFor;
use std::io::{self, Write};

/// Maximum number of names in the line of threads without managed frames.
const MAX_SHOWN_NAMES: usize = 12;
/// Mark of a thread that belongs to a session, such as this command's.
const SESSION_MARK: &str = " [ours: samples and sends events for nettrace, or another tool]";
/// Text before each frame.
const INDENT: &str = "    ";

pub(super) fn write(context: &mut Context<'_>, seen: &Seen, has_more: bool) -> io::Result<()> {
    let with_frames =
        seen.threads.iter().filter(|thread| thread.is_current() && thread.is_latest());
    let ended = seen.threads.iter().filter(|thread| thread.is_managed() && thread.is_latest());
    let ended = ended.filter(|thread| !thread.is_current()).count();
    let without: Vec<&StackedThread> =
        seen.threads.iter().filter(|thread| !thread.is_managed()).collect();
    let counted = units::counted(with_frames.count() as u64, "thread");
    let mut title = format!("{}: {counted} with managed frames", label(seen));
    if seen.os.is_ok() {
        title.push_str(&format!(", {} without", without.len()));
    }
    if seen.taken > 1 {
        title.push_str(&format!("; stacks taken {} times", seen.taken));
    }
    if ended > 0 && !has_more {
        title.push_str(&format!("; {ended} ended while stacks were taken (--all shows them)"));
    }
    let strong = context.style.strong();
    for verdict in &seen.verdicts.facts {
        let text = wrapped(&printable(&verdict.text()), context.table_width());
        writeln!(context.out, "{}", strong.over(text))?;
    }
    writeln!(context.out, "{}", strong.over(title))?;
    if let Err(reason) = &seen.os {
        writeln!(context.out, "Names, states and CPU times of threads: {}", printable(reason))?;
    }
    match &seen.groups {
        Some(groups) => {
            for group in groups {
                let threads: Vec<&StackedThread> = group.threads(&seen.threads).collect();
                writeln!(context.out)?;
                write_group(context, seen.taken, &threads, group.count)?;
            }
        }
        None => {
            for thread in seen.threads.iter().filter(|thread| thread.is_shown(has_more)) {
                writeln!(context.out)?;
                write_group(context, seen.taken, &[thread], thread.count())?;
            }
        }
    }
    if !without.is_empty() {
        writeln!(context.out)?;
        match seen.native {
            Some(_) => unmanaged_stacks(context, &without, seen.groups.is_some())?,
            None => unmanaged(context, &without, has_more)?,
        }
    }
    if let Some(text) = &seen.native {
        writeln!(context.out, "\nNative code: {}.", printable(text))?;
    }
    Ok(())
}

fn label(seen: &Seen) -> String {
    match (&seen.process_name, seen.process_id) {
        (Some(name), Some(pid)) => format!("{} ({pid})", printable(name)),
        (Some(name), None) => printable(name),
        (None, Some(pid)) => format!("process {pid}"),
        (None, None) => "process".to_owned(),
    }
}

/// Writes threads that share a stack.
fn write_group(
    context: &mut Context<'_>,
    taken: u64,
    threads: &[&StackedThread],
    count: u64,
) -> io::Result<()> {
    let Some(first) = threads.first() else { return Ok(()) };
    let strong = context.style.strong();
    let warning = context.style.warning();
    let doing = match (first.state(), first.waits_for()) {
        (_, Some(what)) => format!("waiting for {what}"),
        _ if threads.iter().all(|thread| thread.is_blocked() == Some(true)) => {
            "blocked in native code".to_owned()
        }
        (Some(ThreadState::Managed), _) => "running managed code".to_owned(),
        (Some(ThreadState::Native), _) if first.is_measured() => "running native code".to_owned(),
        (Some(ThreadState::Ready), _) => "ready, without a processor".to_owned(),
        _ => "in native code".to_owned(),
    };
    let doing = match first.waits_for() {
        Some(WaitFor::Lock) => warning.over(doing),
        _ => doing,
    };
    let often = match taken {
        1 => String::new(),
        _ => format!(", seen {} times", units::count(count)),
    };
    match threads {
        [thread] => {
            let about = about(thread);
            writeln!(context.out, "{}: {doing}{often}{about}", strong.over(name(thread)))?;
        }
        several => {
            let title = units::counted(several.len() as u64, "thread");
            writeln!(context.out, "{}: {doing}{often}", strong.over(title))?;
            for thread in several {
                writeln!(context.out, "  {}{}", name(thread), about(thread))?;
            }
        }
    }
    let faint = context.style.faint();
    let is_outside = first.state() == Some(ThreadState::Native) || first.waits_for().is_some();
    if is_outside || first.native.is_some() {
        native(context, first, threads.len() == 1)?;
    }
    frames(context, first.frames().iter().map(|frame| &*frame.text))?;
    if first.frames().is_empty() {
        writeln!(context.out, "    {}", faint.over("[no frames]"))?;
    }
    Ok(())
}

/// Writes a line for each name of a method or function, cut to the width of tables.
fn frames<'n>(context: &mut Context<'_>, names: impl Iterator<Item = &'n str>) -> io::Result<()> {
    let room = context.table_width().map(|width| width.saturating_sub(INDENT.len()));
    for name in names {
        let name = Text::from(name);
        let shown = room.map_or_else(|| name.whole(), |room| name.cut(room));
        writeln!(context.out, "{INDENT}{shown}")?;
    }
    Ok(())
}

/// Writes a thread's place outside of managed code: system call, kernel function, native frames.
fn native(context: &mut Context<'_>, thread: &StackedThread, is_alone: bool) -> io::Result<()> {
    let faint = context.style.faint();
    let kernel = thread.kernel_function.as_ref().filter(|_| is_alone);
    let kernel = kernel.map(|function| format!("kernel: {}", printable(function)));
    let native = thread.native.as_ref();
    let call = native.and_then(|native| native.stack.system_call.as_deref());
    let call = call.map(|call| format!("system call {}", printable(call)));
    let state = native.filter(|native| !native.is_blocked()).map(|native| native.text().to_owned());
    let mut place: Vec<String> = state.into_iter().chain(call).chain(kernel).collect();
    if place.is_empty() {
        place.push("native code".to_owned());
    }
    writeln!(context.out, "    {}", faint.over(format!("[{}]", place.join(", "))))?;
    frames(context, native.map_or(&[][..], Native::functions).iter().map(String::as_str))?;
    if let Some(reason) = native.and_then(Native::gap) {
        writeln!(context.out, "    {}", faint.over(format!("[frames are missing: {reason}]")))?;
    }
    Ok(())
}

/// Writes threads without managed frames, with their native stacks.
fn unmanaged_stacks(
    context: &mut Context<'_>,
    threads: &[&StackedThread],
    is_merged: bool,
) -> io::Result<()> {
    let strong = context.style.strong();
    let title = units::counted(threads.len() as u64, "thread");
    writeln!(context.out, "{}", strong.over(format!("{title} without managed frames:")))?;
    let mut groups: Vec<Vec<&StackedThread>> = Vec::new();
    let same = |thread: &StackedThread| {
        let native = thread.native.as_ref();
        (native.map(Native::functions).map(<[String]>::to_vec), native.map(Native::text))
    };
    for thread in threads {
        match groups.iter_mut().find(|group| is_merged && same(group[0]) == same(thread)) {
            Some(group) => group.push(thread),
            None => groups.push(vec![thread]),
        }
    }
    for group in groups {
        for thread in &group {
            writeln!(context.out, "  {}{}", name(thread), about(thread))?;
        }
        native(context, group[0], group.len() == 1)?;
    }
    Ok(())
}

fn name(thread: &StackedThread) -> String {
    match thread.name() {
        Some(name) => format!("Thread {} ({})", thread.id, printable(name)),
        None => format!("Thread {}", thread.id),
    }
}

/// Returns a thread's lock, its state and processor time, and its marks.
fn about(thread: &StackedThread) -> String {
    let mut text = String::new();
    let lock = thread.sampled.as_ref().and_then(|row| row.lock);
    if let Some(lock) = lock.and_then(|lock| lock.lock_id) {
        text.push_str(&format!(", lock {lock:#x}"));
    }
    if let Some(owner) = lock.and_then(|lock| lock.owner_thread_id) {
        text.push_str(&format!(" held by thread {owner}"));
    }
    if let Some(state) = thread.os_state() {
        text.push_str(&format!(", {state}"));
    }
    if let Some(os) = &thread.os {
        text.push_str(&format!(", CPU {}", seconds(os.user_ns.saturating_add(os.system_ns))));
    }
    if !thread.is_latest() {
        text.push_str(", before");
    }
    if thread.is_of_sessions() {
        text.push_str(SESSION_MARK);
    }
    text
}

/// Returns a processor time in hundredths of a second, the system's precision.
fn seconds(nanos: u64) -> String {
    format!("{}.{:02} s", nanos / 1_000_000_000, nanos / 10_000_000 % 100)
}

/// Writes threads without managed frames: each in a line if `has_more`, otherwise their names.
fn unmanaged(
    context: &mut Context<'_>,
    threads: &[&StackedThread],
    has_more: bool,
) -> io::Result<()> {
    let strong = context.style.strong();
    let title = units::counted(threads.len() as u64, "thread");
    if has_more {
        writeln!(context.out, "{}", strong.over(format!("{title} without managed frames:")))?;
        for thread in threads {
            writeln!(context.out, "  {}{}", name(thread), about(thread))?;
        }
        return Ok(());
    }
    let mut names: Vec<String> = Vec::new();
    for thread in threads {
        let mut name = thread.name().map_or("?".to_owned(), printable);
        if thread.is_of_sessions() {
            name.push_str(SESSION_MARK);
        }
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(MAX_SHOWN_NAMES);
    names.truncate(MAX_SHOWN_NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let list = names.join(", ");
    let title = strong.over(format!("{title} without managed frames"));
    writeln!(context.out, "{title}: {list}{more} (--all lists them)")
}
