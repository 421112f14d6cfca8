//! `live PID [COUNT]`: prints exceptions when they are thrown, and stops after COUNT. Exceptions
//! that arrive before the session has ended are printed too.

fn main() -> Result<(), live::Error> {
    let mut arguments = std::env::args().skip(1);
    let pid = arguments.next().ok_or("usage: live PID [COUNT]")?.parse()?;
    let wanted: u64 = arguments.next().map_or(Ok(u64::MAX), |count| count.parse())?;
    let mut seen = 0;
    let found = nettrace_ipc::Search::new().process(pid).ok_or("no such .NET process")?;
    let runtime = found.runtime()?;
    let watched = live::watch(&runtime, |type_name, message, stop| {
        println!("{type_name}: {message}");
        seen += 1;
        if seen == wanted {
            stop.stop()?;
        }
        Ok(())
    })?;
    println!("{} exceptions, {} events lost", watched.exceptions, watched.lost);
    Ok(())
}
