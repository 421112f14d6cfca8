//! `live PID [COUNT]`: prints exceptions as they are thrown, all or the first COUNT.

fn main() -> Result<(), live::Error> {
    let mut arguments = std::env::args().skip(1);
    let pid = arguments.next().ok_or("usage: live PID [COUNT]")?.parse()?;
    let mut left: u64 = arguments.next().map_or(Ok(u64::MAX), |count| count.parse())?;
    let found = nettrace_ipc::Search::new().process(pid).ok_or("no such .NET process")?;
    let runtime = found.runtime().ok_or("it cannot be reached")?;
    let watched = live::watch(&runtime, |type_name, message, stop| {
        println!("{type_name}: {message}");
        left -= 1;
        if left == 0 {
            stop.stop()?;
        }
        Ok(())
    })?;
    println!("{} exceptions, {} events lost", watched.exceptions, watched.lost);
    Ok(())
}
