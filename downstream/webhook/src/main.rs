//! `webhook PID HOST:PORT PATH`

fn main() -> Result<(), webhook::Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [pid, host, path] = arguments.as_slice() else {
        return Err("usage: webhook PID HOST:PORT PATH".into());
    };
    let found = nettrace_ipc::Search::new().process(pid.parse()?).ok_or("no such .NET process")?;
    let webhook = webhook::Webhook { host, path };
    println!("{} exceptions", webhook::post_exceptions(&found.runtime()?, &webhook)?);
    Ok(())
}
